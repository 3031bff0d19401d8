"""Chat histories of Aider as sessions."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.recording.importing.chats.samples import AIDER
from tests.recording.importing.sample_files import read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage


def sessions() -> tuple[SessionDraft, ...]:
    return read(AIDER.encode()).sessions


def calls(session: SessionDraft) -> list[ActionDraft]:
    return [each for each in session.actions if each.kind == "llm_call"]


def test_a_report_of_tokens_is_a_model_call_with_the_answers_before_it() -> None:
    first, _ = sessions()
    assert [(each.kind, each.role, each.name) for each in first.actions] == [
        ("event", "system", "start"),
        ("event", "system", "aider"),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("event", "system", "aider"),
        ("message", "agent", None),
        ("event", "system", "aider"),
        ("message", "user", None),
        ("event", "system", "aider"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
    ]
    asked, call, answer, _, code = first.actions[2:7]
    assert (first.name, asked.output) == ("fix the bug in a.py", "fix the bug\nin a.py")
    assert (answer.parent, code.parent, first.actions[-1].parent) == (call.id, call.id, None)
    assert first.actions[8].tags == ("command",)
    assert first.actions[9].error_type == "InternalServerError"


def test_tokens_and_costs_are_those_that_aider_printed() -> None:
    first, second = sessions()
    cached, plain = calls(first)
    assert cached.usage == Usage(
        input_tokens=5200, output_tokens=30, cached_tokens=4000, cache_write_tokens=300
    )
    assert (cached.cost_usd, cached.model, cached.tags) == (
        Decimal("0.01"), "openrouter:anthropic/claude-x", ("rounded",)
    )  # fmt: skip
    assert (plain.usage, plain.cost_usd, plain.tags) == (
        Usage(input_tokens=5244, output_tokens=604),
        None,
        (),
    )
    assert [(each.model, each.cost_usd) for each in calls(second)] == [
        ("gpt-x", Decimal("0.0019")), (None, Decimal("1000.5")), (None, None), (None, None),
    ]  # fmt: skip
    assert [each.usage for each in calls(second)[2:]] == [None, Usage(output_tokens=1_000_000)]


def test_each_start_is_a_session_whose_end_is_unknown() -> None:
    first, second = sessions()
    assert (first.started_at, first.ended_at) == (datetime(2026, 4, 1, 10, tzinfo=UTC), None)
    assert second.name == "no more"
    assert "read as UTC" in read(AIDER.encode()).report.notes[0]


def test_a_history_that_goes_on_keeps_the_keys_and_ids_of_its_sessions() -> None:
    longer = read((AIDER + "\n#### more\n\nYes.\n").encode()).sessions
    assert [each.key for each in longer] == [each.key for each in sessions()]
    assert [each.id for each in longer[1].actions][: len(sessions()[1].actions)] == [
        each.id for each in sessions()[1].actions
    ]


def test_text_before_the_first_start_is_kept_in_a_session_without_a_time() -> None:
    rest, first, _ = read(b"Said before.\n" + AIDER.encode()).sessions
    assert (rest.actions[0].output, rest.started_at) == ("Said before.", None)
    assert first.started_at is not None


@pytest.mark.parametrize(
    ("data", "why"), [(b"# something\n", "no line starts"), (b"\xff# aider", "not UTF-8")]
)
def test_other_text_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read(data, "aider")


def test_a_start_without_a_readable_time_is_still_a_session() -> None:
    found = read(b"# aider chat started at 2026, in May\n")
    assert (found.sessions[0].started_at, found.report.notes) == (None, [])


def test_a_long_history_is_read_in_linear_time() -> None:
    chat = AIDER * 400
    assert len(read(chat.encode()).sessions) == 800
