"""Real recordings are played back: the request of each call, in the form of each API, gets an answer, unless that API
cannot express it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from timemachine.client.playback.pure.apis import CHAT, MESSAGES, RESPONSES_API, Api
from timemachine.client.playback.pure.calls import PlayedCall, SessionSteps, calls_of
from timemachine.client.playback.pure.playback import Playback
from timemachine.core.pure.errors import TimeMachineError
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.neutral import Request, Written
from timemachine.recording.importing.pure.registry import FORMATS, choose_format
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.recordings
LARGEST, CALLS_OF_EACH = 6_000_000, 40


@pytest.fixture(scope="module")
def runs(recordings: Path) -> list[tuple[str, tuple[PlayedCall, ...]]]:
    """Return the first calls of each session with the name of its folder."""
    return list(read(recordings))


def read(recordings: Path) -> Iterator[tuple[str, tuple[PlayedCall, ...]]]:
    """Yield the first calls of each session with the name of its folder."""
    for path in sorted(path for path in recordings.rglob("*") if path.is_file()):
        if path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        try:
            sessions = FORMATS[choose_format(None, data, path.name)].read(data).sessions
        except TimeMachineError:
            continue
        for session in sessions[:4]:
            steps = [document(number, each) for number, each in enumerate(session.actions, start=1)]
            yield path.parent.name, calls_of([SessionSteps(key="run", steps=steps)])[:CALLS_OF_EACH]


def document(sequence: int, draft: ActionDraft) -> dict[str, Any]:
    """Return a step as an export has it."""
    names = ("id", "kind", "layer", "role", "agent", "name", "tool", "call_id", "parent", "tags")
    others = ("input", "output", "model", "parameters", "copied_from")
    failed = draft.error_type is not None or draft.error_message is not None
    return {
        "sequence": sequence,
        **{name: getattr(draft, name) for name in names + others},
        "usage": draft.usage and asdict(draft.usage),
        "error": {"type": draft.error_type, "message": draft.error_message} if failed else None,
    }


@pytest.mark.parametrize(
    ("api", "write"),
    [
        (CHAT, openai_chat.write),
        (RESPONSES_API, openai_responses.write),
        (MESSAGES, anthropic_messages.write),
    ],
)
def test_the_request_of_each_recorded_call_is_answered(
    api: Api, write: Callable[[Request], Written], runs: list[tuple[str, tuple[PlayedCall, ...]]]
) -> None:
    counts: Counter[str] = Counter()
    for name, calls in runs:
        made = Playback(calls, start_over=True)
        for call in calls:
            model = call.model or (call.answered_by or "").partition(":")[2] or call.answered_by
            written = write(replace(call.frozen.request, model=model))
            reply = made.answer(api, {**written.body, "stream": True})
            if not written.dropped:
                assert reply.status in {200, 500}, (name, call.sequence, reply.body)
            counts[f"{reply.status}"] += 1
    assert counts["200"] >= 250, counts
