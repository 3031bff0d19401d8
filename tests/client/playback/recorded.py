"""Recorded steps as an export has them, for tests of playback."""

from typing import Any

from timemachine.client.playback.pure.calls import PlayedCall, SessionSteps, calls_of
from timemachine.client.playback.pure.playback import Playback

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def step(sequence: int, kind: str = "llm_call", **fields: Any) -> dict[str, Any]:
    """Return a step with these fields."""
    return {"sequence": sequence, "kind": kind, **fields}


def chat(*contents: str, **settings: Any) -> dict[str, Any]:
    """Return the body of a chat completion request whose messages alternate between the user and the assistant."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(contents)]
    return {"model": "gpt-x", "messages": messages, **settings}


def played(*steps: dict[str, Any]) -> tuple[PlayedCall, ...]:
    """Return the model calls of a session with these steps."""
    return calls_of([SessionSteps(key="run", steps=steps)])


def playback(*steps: dict[str, Any], start_over: bool = False) -> Playback:
    """Return a playback of a session with these steps."""
    return Playback(played(*steps), start_over=start_over)
