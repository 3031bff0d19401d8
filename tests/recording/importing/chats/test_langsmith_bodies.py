"""What the SDK of LangSmith sends."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.recording.importing.chats.samples import LANGSMITH_BODY
from tests.recording.importing.sample_files import document, lines, read
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.pure.draft import Usage

POSTED, PATCHED = LANGSMITH_BODY["post"][0], LANGSMITH_BODY["patch"][0]


def call_of(found: ParsedFile) -> Any:
    (call,) = found.sessions[0].actions
    return call


def test_the_start_and_the_end_of_a_run_are_one_step() -> None:
    call = call_of(found := read(document(LANGSMITH_BODY)))
    assert (call.kind, call.model, call.duration_ms) == ("llm_call", "openai:gpt-x", 2000)
    assert call.started_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert call.input == POSTED["inputs"]
    assert call.output == PATCHED["outputs"]
    assert call.usage == Usage(
        input_tokens=9, output_tokens=3, total_tokens=12, cached_tokens=4, reasoning_tokens=1
    )
    assert call.source == [POSTED, PATCHED]
    assert len(found.report.skipped) == 1


@pytest.mark.parametrize(
    "data",
    [
        document([{"post": [POSTED]}, {"patch": [PATCHED]}]),
        lines({"post": [POSTED]}, {"patch": [PATCHED]}),
        lines({"patch": [PATCHED]}, {"post": [POSTED]}),
        lines(POSTED, {**POSTED, **PATCHED}),
    ],
)
def test_both_can_be_in_different_bodies_in_any_order(data: bytes) -> None:
    call = call_of(read(data))
    assert (call.kind, call.usage.input_tokens, call.duration_ms) == ("llm_call", 9, 2000)


def test_the_end_of_a_run_without_its_start_is_kept() -> None:
    _, call, other = read(document(LANGSMITH_BODY)).sessions
    assert (call.actions[0].kind, call.actions[0].usage) == (
        "llm_call",
        Usage(input_tokens=107, output_tokens=1, cached_tokens=100, cache_write_tokens=2),
    )
    assert (other.actions[0].kind, other.actions[0].tags) == ("event", ("unknown",))


@pytest.mark.parametrize(
    "outputs",
    [
        {"llm_output": {"token_usage": {"prompt_tokens": 9, "completion_tokens": 3}}},
        {"generations": [[{}]], "llm_output": {"token_usage": {"prompt_tokens": 9, "completion_tokens": 3}}},
        {"llm_output": {"usage": {"input_tokens": 9, "output_tokens": 3}}},
        {"usage": {"prompt_tokens": 9, "completion_tokens": 3}},
        {
            "generations": [
                [{"message": {"kwargs": {"usage_metadata": {"input_tokens": 9, "output_tokens": 3}}}}]
            ]
        },
        {
            "generations": [
                {"message": {"kwargs": {"usage_metadata": {"input_tokens": 9, "output_tokens": 3}}}}
            ]
        },
    ],
)
def test_tokens_are_read_from_where_earlier_versions_wrote_them(outputs: dict[str, Any]) -> None:
    run = {**POSTED, "outputs": outputs}
    assert call_of(read(lines(run))).usage == Usage(input_tokens=9, output_tokens=3)
