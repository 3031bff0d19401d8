"""`AsyncTimeMachine`: the same methods, awaited."""

import asyncio
import inspect
from pathlib import Path
from threading import Barrier

import pytest

from tests.client.conftest import Served
from tests.client.other_server import Request, answering, other_server
from tests.memory.search.recorded import index
from timemachine.client import AsyncTimeMachine, TimeMachine

MANY = 32
RECORDS = {"refuse", "spans", "watch"}
"""What sessions and integrations use of their `TimeMachine`."""


def machine(served: Served) -> AsyncTimeMachine:
    return AsyncTimeMachine(served.gate.url, served.key, spool=served.spool, patience=10.0)


def public(of: object) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_a_session_is_recorded_read_and_recalled(served: Served) -> None:
    async def program() -> None:
        async with machine(served) as tm:
            async with tm.session("Pool", key="pool", agent="ada") as s:
                s.record("user", "The connection pool is exhausted.", "error")
                async with s.tool_call("look", {"at": "pool"}) as call:
                    await asyncio.sleep(0)
                    call.result = "full"
            assert await tm.flush()
            turns = (await tm.transcript("pool"))["items"]
            assert [turn["output"] for turn in turns][:1] == ["The connection pool is exhausted."]
            assert [session["key"] async for session in tm.sessions(agent="ada")] == ["pool"]

    async def later() -> None:
        async with machine(served) as tm:
            found = await tm.context_for("The pool is exhausted, as in the last session.")
            assert {each["session"]["key"] for each in found.results} == {"pool"}
            texts = await asyncio.gather(tm.transcript_text("pool"), tm.transcript_text("pool", budget=500))
            assert all("The connection pool is exhausted." in text for text in texts)

    asyncio.run(program())
    index(served.project)
    asyncio.run(later())


def test_a_replay_is_awaited_with_its_steps(served: Served, worker: None) -> None:
    async def program() -> None:
        async with machine(served) as tm:
            async with tm.session("Asked", key="asked", collection="handbook") as s:
                await s.aput("Invoices are kept for ten years.", title="Retention")
                answer = await s.aask("How long are invoices kept?", model="local:extractive-3")
            replay = await tm.replay("asked", audit=True, reason="try", use_model="local:extractive-1")
            result = await replay.wait()
            assert [each.original_answer for each in result.ask_results] == [answer["answer"]]

    asyncio.run(program())


def test_cancelling_a_wait_ends_it(served: Served) -> None:
    async def program() -> None:
        async with machine(served) as tm:
            async with tm.session("Asked", key="asked", collection="handbook") as s:
                await s.aask("How long are invoices kept?", model="local:extractive-3")
            replay = await tm.replay("asked", audit=True, reason="try")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(replay.wait(), 0.1)
            await replay.cancel()

    asyncio.run(program())


def test_calls_are_under_way_at_the_same_time(tmp_path: Path) -> None:
    together = Barrier(MANY)

    def answer_when_all_are_there(request: Request) -> None:
        together.wait(60)
        answering(200, b"The pool was full.", content_type="text/plain")(request)

    async def program(url: str) -> list[str]:
        async with AsyncTimeMachine(url, "tmk_any", spool=tmp_path) as tm:
            return await asyncio.gather(*(tm.transcript_text("pool") for _ in range(MANY)))

    with other_server(answer_when_all_are_there) as url:
        assert asyncio.run(program(url)) == ["The pool was full."] * MANY


def test_every_method_is_there(served: Served) -> None:
    blocking, awaited = served.machine(), machine(served)
    blocking_only = {"strict", "patience", "sender", "client", "arecall", "acontext_for"}
    assert public(blocking) - RECORDS - blocking_only == public(awaited) - {"blocking", "run"}
    for name in public(awaited) & public(TimeMachine) - {"url", "current", "session", "replay", "close"}:
        assert inspect.signature(getattr(awaited, name)) == inspect.signature(getattr(blocking, name))
