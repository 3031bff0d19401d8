"""A file that is imported while it grows, in any parts, becomes what the complete file becomes."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.recording.importing.claude_code.lines import WITH_REQUESTS
from tests.recording.importing.codex.item_samples import CODEX_ITEMS
from tests.recording.importing.growing_files import REAL, differences, recorded
from tests.recording.importing.sample_files import lines as lines_of_records
from tests.recording.importing.samples import SAMPLES
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.growing import LinesImported, import_lines
from timemachine.recording.importing.pure.growing import GROWTHS
from timemachine.recording.importing.pure.growing.settling import good_lines

pytestmark = pytest.mark.django_db


class Follower:
    """Sends a growing file as `timemachine watch` does. If answers are `lost`, all lines are sent twice."""

    def __init__(self, project: Project, format_name: str, *, lost: bool = False) -> None:
        self.project, self.format_name, self.lost = project, format_name, lost
        self.context: list[str] = []
        self.waiting: list[str] = []
        self.position: dict[str, int] = {}
        self.sent = 0

    def send(self, lines: Sequence[str], *, idle: float = 0.0) -> LinesImported:
        self.waiting += lines
        body = [*self.context, *self.waiting]
        self.sent += sum(map(len, body))
        for _ in range(2 if self.lost else 1):
            done = import_lines(
                self.project,
                body,
                format_name=self.format_name,
                by="test",
                repeated=len(self.context),
                position=self.position,
                idle=idle,
            )
        self.waiting = body[done.lines :]
        self.context = [body[number - 1] for number in done.needed]
        self.position = dict(done.position)
        return done


def grown(
    project: Project, format_name: str, lines: Sequence[str], most: int, *, lost: bool = False
) -> Follower:
    """Send the lines in parts of up to `most` lines, chosen at random."""
    follower = Follower(project, format_name, lost=lost)
    random = Random(most)
    at = 0
    while at < len(lines):
        size = random.randint(1, most)
        follower.send(lines[at : at + size])
        at += size
    follower.send([], idle=3_600)
    return follower


@pytest.mark.recordings
@pytest.mark.parametrize(("format_name", "name"), REAL)
@pytest.mark.parametrize("most", [1, 9])
def test_real_files_line_by_line(
    project: Project, other_project: Project, recordings: Path, format_name: str, name: str, most: int
) -> None:
    data = (recordings / name).read_bytes()
    import_file(project, data, by="test", format_name=format_name)
    follower = grown(other_project, format_name, data.decode().splitlines(), most)
    assert not list(differences(recorded(other_project), recorded(project)))
    assert follower.sent < 15 * len(data)


OURS = [*((name, SAMPLES[name][-1]) for name in GROWTHS), ("codex", lines_of_records(*CODEX_ITEMS))]


@pytest.mark.parametrize(("format_name", "data"), OURS, ids=[*GROWTHS, "codex items"])
@pytest.mark.parametrize("most", [1, 4])
def test_our_samples_line_by_line_also_when_answers_are_lost(
    project: Project, other_project: Project, format_name: str, data: bytes, most: int
) -> None:
    import_file(project, data, by="test", format_name=format_name)
    grown(other_project, format_name, data.decode().splitlines(), most, lost=True)
    found = list(differences(recorded(other_project), recorded(project)))
    assert [each for each in found if "rewound" not in each] == []  # recorded steps are not marked later


def test_equal_lines_are_steps_of_their_own_wherever_the_file_is_divided(
    project: Project, other_project: Project
) -> None:
    mode = json.dumps({"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"})
    lines = [mode, *CLAUDE[:1], mode, *CLAUDE[1:], mode, mode]
    import_file(project, "\n".join(lines).encode(), by="test", format_name="claude_code")
    grown(other_project, "claude_code", lines, 1, lost=True)
    assert not list(differences(recorded(other_project), recorded(project)))


def codex_line(kind: str, at: int, **payload: object) -> str:
    return json.dumps({"timestamp": f"2026-03-01T10:00:{at:02}.000Z", "type": kind, "payload": payload})


CODEX = [
    codex_line("session_meta", 0, id="s", cwd="/work"),
    codex_line("turn_context", 1, turn_id="t", model="gpt-5"),
    codex_line("response_item", 2, type="message", role="user", content="Fix the pool."),
    codex_line("response_item", 3, type="message", role="assistant", content="Done."),
    codex_line("event_msg", 4, type="task_complete"),
]


def test_a_session_of_codex_has_the_name_of_its_request_from_the_beginning(
    project: Project, other_project: Project
) -> None:
    """The context above the request belongs to the first call, so both are recorded with it."""
    import_file(project, "\n".join(CODEX).encode(), by="test", format_name="codex")
    follower = Follower(other_project, "codex")
    names = {each.session.name for line in CODEX for each in follower.send([line]).sessions}
    assert names == {"Fix the pool."}
    assert not list(differences(recorded(other_project), recorded(project)))


def test_a_session_that_is_recorded_before_its_request_gets_its_name_later(project: Project) -> None:
    follower = Follower(project, "codex")
    (early,) = follower.send(CODEX[:2], idle=60).sessions
    assert early.session.name == "s"
    follower.send(CODEX[2:], idle=60)
    early.session.refresh_from_db()
    assert early.session.name == "Fix the pool."


def test_an_answer_is_held_until_it_is_complete(project: Project) -> None:
    follower = Follower(project, "claude_code")
    assert follower.send(CLAUDE[:2]).lines == 1
    assert follower.send([]).lines == 1 + len(follower.context) - 1
    assert follower.send([], idle=60).lines == 2 + len(follower.context) - 1 or not follower.waiting
    assert not follower.waiting


def test_what_cannot_grow_by_lines_is_refused(project: Project) -> None:
    with pytest.raises(InvalidInput, match="line by line"):
        import_lines(project, ["{}"], format_name="opencode", by="test")
    with pytest.raises(InvalidInput, match="`repeated`"):
        import_lines(project, ["{}"], format_name="codex", by="test", repeated=2)


def claude_line(kind: str, at: int, content: object, **message: object) -> str:
    return json.dumps(
        {
            "type": kind,
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s",
            "timestamp": f"2026-03-01T10:00:{at:02}.000Z",
            "message": {"role": kind, "content": content, **message},
        }
    )


CLAUDE = [
    claude_line("user", 0, "Fix the pool."),
    claude_line("assistant", 1, [{"type": "text", "text": "Looking."}], id="m1", model="claude-x"),
    claude_line("user", 2, "Thanks."),
    claude_line("assistant", 3, [{"type": "text", "text": "Done."}], id="m2", model="claude-x"),
]


def test_the_rules_know_sub_agents_queues_and_turns_without_calls() -> None:
    claude, codex = GROWTHS["claude_code"], GROWTHS["codex"]
    side = {"isSidechain": True, "sessionId": "s", "type": "assistant", "message": {"id": "m9"}}
    records: list[dict[str, object]] = [
        {"type": "assistant", "sessionId": "s", "message": {"id": "m1", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "t1", "name": "Task"}]}},
        {**side, "type": "user", "parentUuid": None},
        {**side, "attributionAgent": "Explore"},
        {**side, "parentUuid": "u", "agentId": "a1"},
        {"type": "queue-operation", "operation": "enqueue", "content": "One"},
        {"type": "queue-operation", "operation": "enqueue", "content": "Two"},
        {"type": "queue-operation", "operation": "popAll"},
        {"type": "queue-operation", "operation": "enqueue", "content": "Three"},
        {"type": "queue-operation", "operation": "other"},
        {"type": "attachment"},
        {"type": "system", "subtype": "turn_duration"},
        {"type": "queue-operation", "operation": "dequeue"},
        {"type": "user", "message": {"content": "Three"}},
    ]  # fmt: skip
    good = good_lines([json.dumps(each) for each in records])
    assert claude.held_from(good, 0) == 2
    assert claude.held_from(good[:1], 5) == 1
    assert {0, 1, 2, 3, 11, 12} <= claude.needed(good)
    assert claude.held_from([], 0) == 0
    answer = {
        "type": "assistant",
        "sessionId": "s",
        "message": {"id": "m1", "content": [{"type": "text", "text": "Yes"}]},
    }
    following: list[tuple[dict[str, object], int]] = [
        ({"type": "user", "message": {"content": "Next"}}, 2),
        ({"type": "system", "subtype": "turn_duration"}, 2),
        ({"type": "system", "subtype": "other"}, 0),
    ]
    for after, held in following:
        assert claude.held_from(good_lines([json.dumps(answer), json.dumps(after)]), 0) == held
    assert claude.needed(good_lines(['{"type": "x"}'])) == set()
    messages = [{"type": "event_msg", "payload": {"type": "user_message", "message": "Hi"}}]
    assert codex.held_from(good_lines([json.dumps(each) for each in messages]), 0) == 1
    only_items = [{"type": "response_item", "payload": {"type": "reasoning", "call_id": None}}]
    assert codex.needed(good_lines([json.dumps(each) for each in only_items])) == {0}
    assert codex.held_from(good_lines([json.dumps(each) for each in only_items]), 0) == 0


@pytest.mark.parametrize("most", [1, 4])
def test_a_request_is_held_until_its_answer_or_the_next_request(
    project: Project, other_project: Project, most: int
) -> None:
    lines = [json.dumps(each) for each in WITH_REQUESTS]
    import_file(project, "\n".join(lines).encode(), by="test", format_name="claude_code")
    grown(other_project, "claude_code", lines, most, lost=True)
    assert not list(differences(recorded(other_project), recorded(project)))
