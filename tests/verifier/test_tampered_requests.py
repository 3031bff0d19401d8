"""The tampering lab for model calls: a changed request, answer or result of a tool is detected in the bundle and in the database."""

from io import BytesIO
from pathlib import Path

import pytest

from tests.builders import stored_as
from tests.database_roles import as_owner
from tests.verifier.bundles import faults, packed, unpacked
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys
from timemachine.recording.model_calls.queries import requests_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
TOOL = {
    "type": "function",
    "function": {"name": "read", "description": "Reads one file.", "parameters": {"type": "object"}},
}
PNG = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
ANSWER = {
    "content": "I look.",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "orders.csv"}'}}
    ],
}


@pytest.fixture
def session(project: Project) -> Session:
    """A session of a request that was recorded whole, its tool call with the result, and a request that was not."""
    made = start_session(project, name="Orders", by="Test")
    asked = [
        {"role": "system", "content": "Answer from the files."},
        {"role": "user", "content": [{"type": "text", "text": "How many orders?"}, PNG]},
    ]
    append(
        made.id,
        [
            ActionDraft(
                kind="llm_call",
                id="c",
                input=asked,
                output=ANSWER,
                parameters={"tools": [TOOL], "temperature": 0.25},
            ),
            ActionDraft(kind="tool_call", id="t", parent="c", tool="read", call_id="a", input={"path": "orders.csv"}),
            ActionDraft(kind="tool_result", parent="t", tool="read", call_id="a", output="Seventeen orders"),
            ActionDraft(kind="llm_call", output="Seventeen."),
        ],
    )  # fmt: skip
    made.refresh_from_db()
    return made


CHANGES = {
    "the question": (b"How many orders?", b"How many debtors?", "session record 1 input"),
    "the system prompt": (b"Answer from the files.", b"Answer from memory now", "session record 1 input"),
    "an image": (b"aGVsbG8=", b"aGVsbG9=", "session record 1 input"),
    "the definition of a tool": (b"Reads one file.", b"Reads any file.", "session record 1 words"),
    "a parameter": (b"0.25", b"0.75", "session record 1 words"),
    "an argument of the answer": (b"orders.csv", b"debits.csv", "session record 1 output"),
    "the call of the tool": (b"orders.csv", b"debits.csv", "session record 2 input"),
    "the result of the tool": (b"Seventeen orders", b"Eighteen orders!", "session record 3 output"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_request_or_result_is_found_in_a_bundle(
    session: Session, tmp_path: Path, name: str
) -> None:
    old, new, where = CHANGES[name]
    bundle = BytesIO()
    exporting.write_session(bundle, session)
    files = unpacked(bundle.getvalue())
    changed = {file: data.replace(old, new) for file, data in files.items()}
    assert changed != files
    key = keys.key_in_use(session.project).fingerprint
    assert faults(packed(files, tmp_path / "whole.zip"), key) == []
    assert ("field", where) in faults(packed(changed, tmp_path / "changed.zip"), key)


def test_requests_of_changed_bytes_are_altered(session: Session) -> None:
    assert [found.verdict for _, found in requests_of(session, [1, 4])] == ["verified", "reconstructed"]
    with as_owner() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        nobody = "convert_to('\"Nobody\"', 'UTF8')"
        cursor.execute(
            f"UPDATE tm_payload SET {stored_as(nobody)} WHERE id IN "
            "(SELECT input_id FROM tm_action WHERE session_id = %s AND input_id IS NOT NULL)",
            [session.id],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
    verdicts = {number: found.verdict for number, found in requests_of(session, [1, 4])}
    assert verdicts[1] == "altered"
    assert verdicts[4] == "altered"
