"""Recording through `TimeMachine`: actions are stored completely, in order, once and unchanged."""

import asyncio
import dataclasses
import datetime as dt
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.client.conftest import Served
from tests.waiting import wait_until
from timemachine.client.errors import NotRecorded
from timemachine.core.payloads.queries import value
from timemachine.recording.sessions.models import Session


def test_recorded_actions_are_in_the_session(served: Served) -> None:
    tm = served.machine()
    with tm.session("Invoices", agent="desk", key="first", user="ann", tags=["a"], metadata={"n": 1}) as s:
        s.record("user", "How long are invoices kept?")
        s.record("assistant", {"text": "Ten years."}, significance="decision", importance=0.9)
        s.event("file.open", {"path": "/tmp/x"}, layer="sys")
        s.memory("remember", "ten years")
        s.checkpoint("before", {"messages": [{"role": "user", "content": "hi"}]}, model="openai:gpt-4o")
    session = Session.objects.get(key="first")
    assert (session.name, session.agent, session.user, session.tags, session.metadata, session.status) == (
        "Invoices", "desk", "ann", ["a"], {"n": 1}, "ended",
    )  # fmt: skip
    found = served.actions("first")
    assert [(each.kind, each.layer, each.role, each.name) for each in found] == [
        ("message", "agent", "user", None),
        ("message", "agent", "agent", None),
        ("event", "sys", "system", "file.open"),
        ("memory_op", "agent", "agent", "remember"),
        ("checkpoint", "agent", "agent", "before"),
    ]
    assert (found[1].significance, found[1].importance) == ("decision", 0.9)
    assert value(found[4].output) == {
        "messages": [{"role": "user", "content": "hi"}],
        "model": "openai:gpt-4o",
    }
    assert [each.sequence for each in found] == [1, 2, 3, 4, 5]
    assert all(each.started_at for each in found)
    wait_until(lambda: served.spooled() == [])


def test_calls_record_input_output_and_duration(served: Served) -> None:
    tm = served.machine()
    messages = [{"role": "user", "content": "hi"}]
    with tm.session("Calls", key="calls") as s, s.llm_call("openai:gpt-4o", messages) as call:
        with s.tool_call("search", {"q": "x"}) as inner:
            inner.result = ["a"]
        call.output = "Hello."
        call.usage = {"input_tokens": 3, "output_tokens": 2}
        call.cost_usd = 0.25
        call.parameters = {"temperature": 0}
    tool, model = served.actions("calls")
    assert (tool.kind, tool.tool, value(tool.input), value(tool.output)) == (
        "tool_call",
        "search",
        {"q": "x"},
        ["a"],
    )
    assert (model.kind, model.model, model.input_tokens, model.output_tokens) == (
        "llm_call",
        "openai:gpt-4o",
        3,
        2,
    )
    assert (value(model.input), value(model.output)) == (messages, "Hello.")
    assert (float(model.cost_usd or 0), model.parameters) == (0.25, {"temperature": 0})
    assert tool.parent_id_given == model.client_id
    assert model.duration_ms is not None
    assert tool.duration_ms is not None
    assert model.duration_ms >= tool.duration_ms


def test_decorated_functions_record_their_calls_and_behave_unchanged(served: Served) -> None:
    tm = served.machine()
    s = tm.session("Functions", key="functions")

    @s.tool_call
    def add(a: int, b: int = 2) -> int:
        return a + b

    @s.tool_call("look")
    async def look(q: str) -> str:
        await asyncio.sleep(0)
        return q.upper()

    @s.llm_call("local:model")
    def stream(prompt: str) -> Iterator[str]:
        yield from prompt.split()

    @s.llm_call(model="local:model")
    async def astream(prompt: str) -> AsyncIterator[str]:
        for word in prompt.split():
            yield word

    class Tools:
        @s.tool_call
        def fail(self, path: str) -> None:
            raise ValueError(f"no file {path}")

    async def read() -> list[str]:
        return [each async for each in astream("c d")]

    assert (add(1), add.__name__, asyncio.run(look("x"))) == (3, "add", "X")
    assert (list(stream("a b")), asyncio.run(read())) == (["a", "b"], ["c", "d"])
    with pytest.raises(ValueError, match="no file x") as raised:
        Tools().fail("x")
    assert raised.value.args == ("no file x",)
    with pytest.raises(TypeError, match="missing"):
        add()  # type: ignore[call-arg]  # that is what is tested
    s.end()
    found = [
        (each.kind, each.tool, each.model, value(each.input), value(each.output), each.error_message)
        for each in served.actions("functions")
    ]
    assert found[:5] == [
        ("tool_call", "add", None, {"a": 1}, 3, None),
        ("tool_call", "look", None, {"q": "x"}, "X", None),
        ("llm_call", None, "local:model", "a b", ["a", "b"], None),
        ("llm_call", None, "local:model", "c d", ["c", "d"], None),
        ("tool_call", "fail", None, {"path": "x"}, None, "no file x"),
    ]
    assert found[5][1] == "add"
    assert "missing" in (found[5][5] or "")


def test_a_tool_is_named_by_position_or_keyword(served: Served) -> None:
    with served.machine().session("Named", key="named") as s:
        with s.tool_call("search", {"q": 1}):
            pass
        with s.tool_call(name="search", input={"q": 1}):
            pass
        with s.tool_call(tool="search", input={"q": 1}, name="first"):
            pass

        @s.tool_call(name="search")
        def look(q: int) -> None:
            """Look."""

        look(1)
    found = [(each.tool, each.name, value(each.input)) for each in served.actions("named")]
    given = {"q": 1}
    assert found == [
        ("search", None, given),
        ("search", None, given),
        ("search", "first", given),
        ("search", None, given),
    ]


def test_an_error_of_the_agent_is_recorded_and_reraised_unchanged(served: Served) -> None:
    tm = served.machine()
    error = KeyError("x")
    with pytest.raises(KeyError) as raised, tm.session("Fails", key="fails") as s, s.tool_call("t"):
        raise error
    assert raised.value is error
    found = [(each.kind, each.name, each.error_type, each.error_message) for each in served.actions("fails")]
    assert found == [("tool_call", None, "KeyError", "'x'"), ("event", "session.failed", "KeyError", "'x'")]
    assert Session.objects.get(key="fails").status == "ended"


def test_a_later_change_of_a_value_does_not_change_its_record(served: Served) -> None:
    tm = served.machine()
    messages = [{"role": "user", "content": "one"}]
    with tm.session("Snapshot", key="snapshot") as s:
        with s.llm_call("m:x", messages) as call:
            messages.append({"role": "user", "content": "two"})
            call.output = messages
            messages_then = list(messages)
        s.record("agent", messages)
        messages.clear()
    call_made, message = served.actions("snapshot")
    assert value(call_made.input) == [{"role": "user", "content": "one"}]
    assert value(call_made.output) == value(message.output) == messages_then


@dataclasses.dataclass
class Point:
    x: int
    at: Any


def test_values_without_a_json_form_are_recorded_in_another_form(served: Served) -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = [deep]
    odd = [
        Point(1, dt.date(2026, 1, 2)), {3, 1, 2}, float("nan"), b"\x00\x01", {1: "a", "1": "b"}, "half \ud83d", 10**5000, (1,), ValueError("x"),
    ]  # fmt: skip
    with served.machine().session("Odd", key="odd") as s:
        s.record("agent", odd)
        s.record("agent", deep)
        s.record("agent", threading.Lock())
    first, second, third = served.outputs("odd")
    assert first[:7] == [
        {"x": 1, "at": "2026-01-02"}, [1, 2, 3], "nan", {"base64": "AAE="}, [[1, "a"], ["1", "b"]], "half \ud83d", hex(10**5000),
    ]  # fmt: skip
    assert first[7:] == [[1], {"type": "ValueError", "message": "x"}]
    assert "bottom" in str(second)
    assert "lock" in third


def test_a_value_outside_the_vocabulary_is_recorded_as_a_tag(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.machine().session("Words", key="words") as s:
        for _ in range(3):
            s.record("narrator", "x", significance="huge")
    found = served.actions("words")
    assert [(each.role, each.significance, each.tags) for each in found] == [
        (None, None, ["role:narrator", "significance:huge"])
    ] * 3
    assert len([each for each in caplog.records if "narrator" in each.message]) == 1


def test_put_find_and_ask_follow_the_actions_recorded_before(served: Served) -> None:
    tm = served.machine()
    with tm.session("Order", key="order", collection="handbook") as s:
        s.record("user", "one")
        s.put("Invoices are kept for ten years.", title="Retention")
        s.record("user", "two")
        assert s.find("invoices", top_k=1)["hits"][0]["title"] == "Retention"
        s.record("user", "three")
        assert "ten years" in str(s.ask("How long are invoices kept?")["answer"])
    kinds = [each.kind for each in served.actions("order") if each.parent_id_given is None]
    assert kinds[:5] == ["message", "put", "message", "find", "message"]
    assert "ask" in kinds[5:]


def test_an_asynchronous_program_records_a_session(served: Served) -> None:
    async def talk(number: int) -> None:
        async with served.machine().session("Async", key=f"async-{number}", collection="c") as s:
            s.record("user", number)
            async with s.tool_call("wait") as call:
                await asyncio.sleep(0.01)
                call.result = number
            await s.aput("Some text.")
            assert (await s.afind("text"))["hits"]
            assert await s.aflush()

    async def all_of_them() -> None:
        await asyncio.gather(*(talk(number) for number in range(3)))

    asyncio.run(all_of_them())
    for number in range(3):
        kinds = [each.kind for each in served.actions(f"async-{number}")]
        assert kinds == ["message", "tool_call", "put", "find"]


def test_automatic_checkpoints_are_set_every_n_actions(served: Served) -> None:
    messages: list[str] = []

    def state() -> dict[str, Any]:
        return {"messages": messages, "environment": {"OPENAI_API_KEY": "sk-1", "HOME": "/home"}}

    with served.machine().session("Every", key="every", checkpoint_every=2, state=state) as s:
        for number in range(5):
            messages.append(str(number))
            s.record("agent", number)
    found = served.actions("every")
    assert [each.kind for each in found] == ["message", "message", "checkpoint"] * 2 + ["message"]
    assert [value(each.output)["messages"] for each in found if each.kind == "checkpoint"] == [
        ["0", "1"],
        ["0", "1", "2", "3"],
    ]
    assert value(found[2].output)["environment"] == {
        "OPENAI_API_KEY": "[withheld: secret]",
        "HOME": "/home",
    }


def test_a_failing_state_function_loses_no_action(served: Served) -> None:
    def state() -> dict[str, Any]:
        raise RuntimeError("no state")

    with served.machine().session("S", key="s", checkpoint_every=1, state=state) as s:
        s.record("agent", 1)
    assert served.outputs("s") == [1]
    strict = served.machine(strict=True)
    with strict.session("S", key="s2", checkpoint_every=1, state=state) as s, pytest.raises(NotRecorded):
        s.record("agent", 1)


def test_a_model_call_is_recorded_with_the_model_and_usage_of_its_answer(served: Served) -> None:
    messages = [{"role": "user", "content": "Why?"}]
    with served.machine().session("Decorated", key="decorated") as s:

        @s.llm_call
        def complete(messages: list[dict[str, str]], temperature: float = 0.0) -> dict[str, Any]:
            return {"text": "So.", "model": "openai:gpt-4o", "usage": {"input_tokens": 7, "output_tokens": 2}}

        @s.llm_call("local:words")
        def words(system: str, text: str) -> Iterator[Any]:
            yield "a"
            yield {"usage": {"input_tokens": 1}}

        complete(messages, temperature=0.5)
        list(words("s", "t"))
    first, second = served.actions("decorated")
    assert (value(first.input), first.parameters) == (messages, {"temperature": 0.5})
    assert (first.model, first.input_tokens, first.output_tokens) == ("openai:gpt-4o", 7, 2)
    assert (second.model, second.input_tokens, value(second.input)) == (
        "local:words",
        1,
        {"system": "s", "text": "t"},
    )
