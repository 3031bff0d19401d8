"""The official SDKs run a recorded session against playback, streamed and not, and nothing leaves this machine."""

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.client.playback.agents import AGENTS, ANSWER, QUESTION, exported, recorded
from timemachine.client.playback.recordings import read_recording
from timemachine.client.playback.server import PlaybackServer


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_an_agent_runs_from_the_record_alone(
    agent: str, streamed: bool, tmp_path: Path, outside: list[Any]
) -> None:
    with PlaybackServer(read_recording(exported(tmp_path, *recorded(agent)))) as server:
        assert AGENTS[agent](server.url, streamed=streamed) == (ANSWER, 56)
        assert server.unused == ()
    assert outside == []


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_a_changed_prompt_is_a_conflict_that_names_the_first_different_message(
    agent: str, tmp_path: Path, outside: list[Any]
) -> None:
    with (
        PlaybackServer(read_recording(exported(tmp_path, *recorded(agent)))) as server,
        pytest.raises((openai.ConflictError, anthropic.ConflictError)) as raised,
    ):
        AGENTS[agent](server.url, "How is the weather in Oslo?")
    assert "The closest is that of step 1." in str(raised.value)
    assert "message 1 (user): text differs" in str(raised.value)
    assert "in Oslo?" in str(raised.value)
    assert [call.sequence for call in server.unused] == [1, 2]
    assert outside == []


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("agent", ["chat", "messages"])
def test_a_run_of_which_only_turns_were_recorded_is_played_back_too(
    agent: str, streamed: bool, tmp_path: Path
) -> None:
    steps: list[dict[str, Any]] = [
        {"kind": "message", "role": "user", "output": QUESTION},
        {
            "kind": "llm_call",
            "output": {
                "content": "Let me look.",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
                ],
            },
            "usage": {"input_tokens": 20, "output_tokens": 8},
        },
        {"kind": "tool_result", "call_id": "c1", "tool": "weather", "output": "sunny, 31"},
        {"kind": "llm_call", "output": ANSWER, "usage": {"input_tokens": 20, "output_tokens": 8}},
    ]
    with PlaybackServer(read_recording(exported(tmp_path, *steps))) as server:
        assert AGENTS[agent](server.url, streamed=streamed) == (ANSWER, 56)


def test_both_sdks_list_the_models_of_the_recording(tmp_path: Path) -> None:
    with PlaybackServer(read_recording(exported(tmp_path, *recorded("chat")))) as server:
        listed = openai.OpenAI(base_url=server.base_url, api_key="none").models.list()
        assert [model.id for model in listed] == ["gpt-x"]
        others = anthropic.Anthropic(base_url=server.url, api_key="none").models.list()
        assert [model.id for model in others] == ["gpt-x"]


async def run_at_the_same_time(url: str, number: int) -> list[str]:
    """Send equal requests at the same time and return the answers, sorted."""
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        asked = (
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
            for _ in range(number)
        )
        return sorted(each.choices[0].message.content or "" for each in await asyncio.gather(*asked))


def test_equal_requests_at_the_same_time_get_each_answer_once(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Hi"}]
    steps = [{"kind": "llm_call", "input": asked, "output": f"{number}"} for number in range(8)]
    with PlaybackServer(read_recording(exported(tmp_path, *steps))) as server:
        assert asyncio.run(run_at_the_same_time(server.url, 8)) == [f"{number}" for number in range(8)]
