"""Claude Code files as sessions."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.formats.claude_code import recognises
from timemachine.recording.importing.pure.reader import opening_of
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import LineSkipped


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": text}, **fields}


def file_of(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def name_of(*records: dict[str, Any]) -> str:
    (session,) = FORMATS["claude_code"].read(file_of(*records)).sessions
    return session.name


def test_lines_are_grouped_by_session_in_order_of_appearance() -> None:
    result = FORMATS["claude_code"].read(
        file_of(
            user("old one", sessionId="old"),
            user("new one", sessionId="new"),
            user("old two", sessionId="old"),
        )
    )

    assert [(each.key, [action.output for action in each.actions]) for each in result.sessions] == [
        ("old", ["old one", "old two"]),
        ("new", ["new one"]),
    ]


def test_lines_whose_type_is_not_a_text_are_skipped() -> None:
    schema = {"type": ["string", "null"], "uuid": "u", "message": {"role": "user"}}
    nested = {"type": {"const": "user"}, "sessionId": "s1"}
    assert not recognises(opening_of(file_of(schema, nested)))
    assert recognises(opening_of(file_of(schema, user("hello"))))
    result = FORMATS["claude_code"].read(file_of(schema, user("hello"), nested))
    assert [each.line for each in result.report.skipped] == [1, 3]


def test_a_line_without_a_session_joins_its_parent_or_else_the_current_session() -> None:
    result = FORMATS["claude_code"].read(
        file_of(
            {"type": "summary", "summary": "points nowhere", "leafUuid": "gone"},
            {"type": "summary", "summary": "points to the second", "leafUuid": "u2"},
            user("first", sessionId="a", uuid="u1"),
            user("second", sessionId="b", uuid="u2"),
            {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"kept": 1}},
            {"type": "note"},
        )
    )

    assert {each.key: [action.output for action in each.actions] for each in result.sessions} == {
        "a": ["points nowhere", "first", {"kept": 1}],
        "b": ["points to the second", "second", None],
    }


def test_both_spellings_of_the_session_id_are_read() -> None:
    (session,) = (
        FORMATS["claude_code"]
        .read(file_of({"type": "system", "subtype": "init", "session_id": "s9"}))
        .sessions
    )

    assert session.key == "s9"
    assert session.actions[0].output == {"subtype": "init"}


def test_a_growing_file_without_a_session_id_keeps_its_key() -> None:
    lines = [{"type": "user", "message": {"content": text}} for text in ("one", "two")]
    (short,), (grown,) = (
        FORMATS["claude_code"].read(file_of(lines[0])).sessions,
        FORMATS["claude_code"].read(file_of(*lines)).sessions,
    )

    assert short.key.startswith("claude_code-")
    assert short.key == grown.key


def test_a_session_id_that_cannot_be_a_key_is_named_by_its_hash() -> None:
    (session,) = FORMATS["claude_code"].read(file_of(user("hi", sessionId="not a key"))).sessions

    assert session.key.startswith("claude_code-")


def test_the_latest_summary_names_the_session() -> None:
    assert (
        name_of(
            {"type": "summary", "summary": "Of another session", "leafUuid": "gone"},
            {"type": "summary", "summary": "Mend the parser", "leafUuid": "u1"},
            user("please look", uuid="u1"),
            {"type": "summary", "summary": "Mend the parser and its tests", "leafUuid": "u1"},
            {"type": "summary", "summary": "Of no leaf"},
        )
        == "Mend the parser and its tests"
    )


def test_a_summary_of_an_unknown_line_names_the_session_if_there_is_no_other() -> None:
    summary = {"type": "summary", "summary": "Mend the parser", "leafUuid": "gone"}

    assert name_of(summary, user("please look", uuid="u1")) == "Mend the parser"


def test_the_newest_title_of_a_person_wins_over_generated_ones() -> None:
    first, second = (
        {"type": "custom-title", "customTitle": each, "sessionId": "s1"} for each in ("Farm", "Orchard")
    )
    generated = {"type": "ai-title", "aiTitle": "Plan an orchard", "sessionId": "s1"}
    summary = {"type": "summary", "summary": "Of the orchard", "leafUuid": "u1"}
    said = user("hm", uuid="u1")

    assert name_of(said, first, second, generated, summary, {**first, "customTitle": " "}) == "Orchard"
    assert name_of(summary, said, generated) == "Plan an orchard"
    assert name_of(said, {**generated, "aiTitle": 42}) == "hm"


def test_a_session_knows_the_names_that_shorter_files_gave_it() -> None:
    title = {"type": "custom-title", "customTitle": "Orchard", "sessionId": "s1"}
    (session,) = FORMATS["claude_code"].read(file_of(user("hm"), title)).sessions

    assert session.name == "Orchard"
    assert set(session.earlier_names) == {"s1", "hm"}


def test_without_a_summary_the_first_user_message_names_the_session() -> None:
    long = "please move the button to the right of the search field and give it a clear label"

    assert (
        name_of(
            {"type": "summary", "summary": ""},
            user("Caveat: …", isMeta=True),
            user("<command-name>/clear</command-name>"),
            user("This session is being continued", isCompactSummary=True),
            user("Explore the folder", isSidechain=True),
            user("  "),
            user(f"{long} in both themes"),
            user("and then"),
        )
        == "please move the button to the right of the search field and give it a clear…"
    )


def test_what_a_sub_agent_was_asked_for_does_not_name_the_session() -> None:
    assert name_of(user("Explore the folder", isSidechain=True)) == "s1"


def test_without_any_message_the_key_is_the_name() -> None:
    assert name_of({"type": "system", "sessionId": "s1", "content": "Started"}) == "s1"


def test_a_session_lasts_from_its_earliest_to_its_latest_time() -> None:
    (session,) = (
        FORMATS["claude_code"]
        .read(
            file_of(
                user("b", timestamp="2026-03-01T10:00:01.250Z"),
                user("a", timestamp="2026-03-01T11:00:00+01:00"),
                user("no time", timestamp="yesterday"),
            )
        )
        .sessions
    )

    assert session.started_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert session.ended_at == datetime(2026, 3, 1, 10, 0, 1, 250_000, tzinfo=UTC)


def test_a_session_without_times_has_none() -> None:
    (session,) = FORMATS["claude_code"].read(file_of(user("a"))).sessions

    assert (session.started_at, session.ended_at) == (None, None)


def test_the_location_of_lines_is_metadata_and_a_list_if_it_changed() -> None:
    (session,) = (
        FORMATS["claude_code"]
        .read(
            file_of(
                user("a", cwd="/app", gitBranch="main", version="2.0.1"),
                user("b", cwd="/app", gitBranch="fix", version=7),
                user("c", cwd="/app", gitBranch="main"),
            )
        )
        .sessions
    )

    assert session.metadata == {"cwd": "/app", "gitBranch": ["main", "fix"], "version": "2.0.1"}
    assert (session.agent, session.user, session.tags) == ("claude-code", None, ())


def test_a_truncated_line_is_reported_and_the_rest_is_read() -> None:
    complete = file_of(user("one"), user("two"), {"no": "type"}, {"type": 3}, ["list"])
    result = FORMATS["claude_code"].read(complete + b"\n" + file_of(user("three"))[:12])

    assert [action.output for action in result.sessions[0].actions] == ["one", "two"]
    assert result.report.lines == 6
    assert result.report.became == {"message": 2}
    assert result.report.skipped == [
        LineSkipped(line=3, reason="It has no `type`, so it is not a Claude Code line."),
        LineSkipped(line=4, reason="It has no `type`, so it is not a Claude Code line."),
        LineSkipped(line=5, reason="It is JSON but not an object."),
        LineSkipped(
            line=7, reason="It is truncated or not JSON: Unterminated string starting at character 10."
        ),
    ]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "it is empty."),
        (b"\n\n", "it is empty."),
        (b"\nnotes\nmore", "line 2: It is truncated or not JSON"),
        ('{"type":"user"}'.encode("utf-16"), "line 1: It is not UTF-8 text: byte 1 is invalid."),
        (b'{"text":"a frame"}', "line 1: It has no `type`"),
    ],
)
def test_a_file_without_a_usable_line_is_refused_with_its_contents(data: bytes, found: str) -> None:
    with pytest.raises(InvalidInput, match="Expected: Claude Code session") as refusal:
        FORMATS["claude_code"].read(data)

    assert refusal.value.code == "unknown_format"
    assert f"Found: {found}" in refusal.value.message
