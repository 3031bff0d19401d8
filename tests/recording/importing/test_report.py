"""The report of an import."""

import pytest

from timemachine.core.pure.names import shortened
from timemachine.recording.importing.pure.reader import Reader
from timemachine.recording.importing.pure.report import (
    ImportReportOut,
    LineSkipped,
    SessionDraft,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import key_of


def test_a_report_lists_lines_imported_actions_and_skipped_lines() -> None:
    report = ImportReportOut(
        lines=3,
        became={"message": 2},
        skipped=[LineSkipped(line=7, reason="It is JSON but not an object.")],
        notes=[],
    )

    assert report.model_dump() == {
        "lines": 3,
        "became": {"message": 2},
        "skipped": [{"line": 7, "reason": "It is JSON but not an object."}],
        "notes": [],
    }
    assert ImportReportOut.of_json(report.model_dump()) == report


def test_actions_are_counted_by_kind_over_all_sessions() -> None:
    first = SessionDraft(key="a", name="a", actions=(ActionDraft(kind="message"), ActionDraft(kind="event")))
    second = SessionDraft(key="b", name="b", actions=(ActionDraft(kind="message"),))

    reader = Reader(b"", name="agentos", title="entries")
    reader.use(3)
    result = reader.parsed([first, second])

    assert result.sessions == (first, second)
    assert (result.report.lines, result.report.became) == (3, {"message": 2, "event": 1})


def test_an_id_that_is_a_valid_key_is_the_key() -> None:
    assert key_of("run_7.b:2@host-1", "claude_code") == "run_7.b:2@host-1"


@pytest.mark.parametrize("recorded", ["with space", "", "ä", "a/b", "x" * 201, "ends\n", "\ud800"])
def test_an_id_that_cannot_be_a_key_is_named_by_its_hash(recorded: str) -> None:
    key = key_of(recorded, "claude_code")

    assert key == key_of(recorded, "claude_code")
    assert key.startswith("claude_code-")
    assert len(key) == len("claude_code-") + 12
    assert key != key_of(recorded + "!", "claude_code")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("  two\n lines ", "two lines"),
        ("ten letter words here", "ten letter…"),
        ("abcdefghijklmnop", "abcdefghijk…"),
        ("exactly twel", "exactly twel"),
        ("exactly twel and more", "exactly…"),
        (" \n ", ""),
    ],
)
def test_a_name_is_shortened_at_a_word_boundary(text: str, expected: str) -> None:
    assert shortened(text, limit=12) == expected
