"""`session start`, `end`, `status`, `list`, `view`, `delete`, `checkpoint` and `import`, against a real server."""

import gzip
import json
import os
import re
import shlex
import threading
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.cli.terminal import Here, Terminal
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft

NAMING_A_SESSION = [
    ("session", "view"),
    ("session", "end"),
    ("session", "delete", "--yes"),
    ("session", "checkpoint", "--name", "c"),
    ("session", "replay"),
    ("share", "create"),
]


def transcript(*texts: str, session: str = "s1") -> str:
    """A Claude Code file with a user message for each text."""
    lines = [
        {
            "type": "user",
            "sessionId": session,
            "uuid": f"{session}-{number}",
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(texts)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_starting_a_session_explains_how_to_end_it(tm: Here) -> None:
    ran = tm.run("session", "start", "notes", "--name", "Früh am Morgen", "--agent", "coder", "--key", "s:1")
    stored = Session.objects.get()
    assert (ran.code, stored.name, stored.agent, stored.key) == (0, "Früh am Morgen", "coder", "s:1")
    assert ran.out.startswith(
        "Session s:1 is open. It records every put, find and ask that this command makes in notes.\n"
    )
    assert ran.out.endswith("End it with: timemachine session end s:1\n")
    assert str(stored.id) in ran.out


def test_a_taken_or_malformed_key_is_refused(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    assert "Choose another key" in tm.refused("session", "start", "notes", "--name", "n", "--key", "s1")
    assert "key" in tm.refused("session", "start", "notes", "--name", "n", "--key", "not a valid key")
    assert "name" in tm.refused("session", "start", "notes", "--name", " ")


def test_the_only_open_session_is_used_by_default(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    tm.json("put", "notes", "-", "--session", "s1", given="text")
    assert tm.run("session", "checkpoint", "--name", "halfway").out == "Checkpoint halfway set at step 2.\n"
    assert tm.run("session", "checkpoint").out == "Checkpoint set at step 3.\n"
    assert tm.run("session", "end").out == "Session s1 has ended: 3 actions recorded.\n"
    assert Session.objects.get().status == "ended"


@pytest.mark.parametrize("words", [("session", "end"), ("session", "checkpoint", "--name", "c")])
def test_without_an_open_session_a_session_must_be_named(words: tuple[str, ...], tm: Here) -> None:
    assert "No session is open" in tm.refused(*words)


@pytest.mark.parametrize("words", [("session", "end"), ("session", "checkpoint", "--name", "c")])
def test_with_several_open_sessions_a_session_must_be_named(words: tuple[str, ...], tm: Here) -> None:
    for key in ("s1", "s2"):
        tm.json("session", "start", "notes", "--name", "n", "--key", key)
    assert "Several sessions are open: s2, s1." in tm.refused(*words)
    verb, *options = words[1:]
    assert tm.run("session", verb, "s1", *options).code == 0


def test_a_long_list_of_open_sessions_is_shortened(tm: Here) -> None:
    for number in range(7):
        tm.json("session", "start", "notes", "--name", "n", "--key", f"s{number}")
    assert "s6, s5, s4, s3, s2 and others" in tm.refused("session", "end")


def test_ending_a_session_twice_is_the_same_as_once(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    ended = tm.json("session", "end", "s1")
    with tm.unchanged():
        assert tm.json("session", "end", "s1") == ended


def test_status_shows_the_open_sessions(tm: Here) -> None:
    assert tm.run("session", "status").out.startswith("No session is open.")
    assert tm.json("session", "status") == {"items": [], "next": None}
    tm.json("session", "start", "notes", "--name", "open", "--key", "s1")
    tm.json("session", "start", "notes", "--name", "over", "--key", "s2")
    tm.json("session", "end", "s2")
    assert [each["key"] for each in tm.json("session", "status")["items"]] == ["s1"]
    assert "over" not in tm.run("session", "status").out


def test_the_list_continues_where_it_ended(tm: Here) -> None:
    assert (
        tm.run("session", "list").out
        == "No sessions yet. Start one with `timemachine session start`, or load an example with `timemachine demo`.\n"
    )
    for number in range(3):
        tm.json("session", "start", "notes", "--name", f"n{number}", "--key", f"s{number}")
    first = tm.run("session", "list", "--limit", "2")
    assert [line.split()[0] for line in first.out.splitlines()] == ["key", "s2", "s1"]
    *_, after = first.err.split()
    rest = tm.run("session", "list", "--after", after)
    assert ([line.split()[0] for line in rest.out.splitlines()], rest.err) == (["key", "s0"], "")


def test_the_command_for_the_next_page_repeats_the_filters(tm: Here) -> None:
    for number in range(3):
        tm.json("session", "start", "notes", "--name", "n", "--agent", "my agent", "--key", f"s{number}")
    tm.json("session", "start", "notes", "--name", "n", "--agent", "another", "--key", "last")
    first = tm.run("session", "list", "--agent", "my agent", "--limit", "1")
    assert first.err.startswith(
        "There are more: timemachine session list --limit 1 --agent 'my agent' --after "
    )
    _, *words = shlex.split(first.err.partition(": ")[2])
    second = tm.run(*words)
    assert [line.split()[0] for line in (first.out + second.out).splitlines()] == ["key", "s2", "key", "s1"]
    assert second.err.count("--after") == 1


@pytest.mark.parametrize("limit", ["0", "201", "many"])
def test_a_page_has_between_1_and_200_lines(limit: str, terminal: Terminal) -> None:
    assert terminal.run("session", "list", "--limit", limit).code == 2


def test_an_invalid_cursor_is_refused(tm: Here) -> None:
    assert "first page" in tm.refused("session", "list", "--after", "nonsense")


CALLING = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}],
}


def test_a_session_is_shown_step_by_step_with_children_under_their_parents(tm: Here) -> None:
    session = start_session(tm.project, name="Walk", key="walk", by="test")
    drafts = [
        ActionDraft(kind="message", role="user", output="Why?\x1b[31m"),
        ActionDraft(kind="tool_call", id="t", tool="read_file", input={"path": "ä.js"}, duration_ms=12),
        ActionDraft(kind="tool_result", parent="t", output="text"),
        ActionDraft(kind="llm_call", model="nobody:x", error_type="timeout", error_message="too slow"),
        ActionDraft(kind="llm_call", input={"messages": []}, output={"choices": [{"message": CALLING}]}),
    ]
    append(session.id, drafts)
    ran = tm.run("session", "view", "walk")
    head, _, steps = ran.out.partition("\n\n")
    assert (ran.code, head.splitlines()[0]) == (0, "name       Walk")
    assert [" ".join(line.split()) for line in steps.splitlines()] == [
        "1 message user: Why?␛[31m",
        '2 tool call read_file: {"path": "ä.js"} 12 ms',
        "3 tool result text",
        "4 llm call error: too slow nobody:x, unknown",
        "5 llm call read_file · I look.",
    ]
    assert [
        line.index(word)
        for line, word in zip(steps.splitlines(), ("message", "tool", "tool", "llm", "llm"), strict=True)
    ] == [3, 3, 5, 3, 3]


def test_a_session_as_json_is_the_api_document(tm: Here) -> None:
    begun = tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    assert tm.json("session", "view", "s1") == begun == tm.json("session", "view", begun["id"])


def test_an_unknown_session_is_refused_by_every_command(tm: Here) -> None:
    ids = ["nobody", "..", ".", "", "a/b", "019a0000-0000-7000-8000-000000000000", "ä b%00"]
    first, *others = NAMING_A_SESSION
    for words, named in [(first, ids), *((words, ids[4:6]) for words in others)]:
        for id_ in named:
            assert " no " in tm.refused(*words, "--", id_)


def test_a_session_of_another_project_is_unknown(tm: Here) -> None:
    theirs = start_session(Project.objects.create(name="theirs"), name="n", key="theirs", by="test")
    assert "There is no session" in tm.refused("session", "view", str(theirs.id))
    assert "There is no session" in tm.refused("session", "delete", "theirs", "--yes")


def test_a_session_is_deleted_only_after_confirmation(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "Wichtig", "--key", "s1")
    for answer in ("", "yes please\n"):
        with tm.unchanged():
            ran = tm.run("session", "delete", "s1", given=answer)
        assert ran.code == 1
        assert ran.err == (
            "Delete the session s1 (Wichtig) with 0 actions, notes, replays, judgements and share links permanently? [y/N] "
            'Nothing was deleted. Answer "yes" or use --yes.\n'
        )
    assert tm.run("session", "delete", "s1", given="Yes\n").code == 0
    assert not Session.objects.exists()


def test_the_yes_option_deletes_a_session_without_a_question(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    tm.json("put", "notes", "-", "--session", "s1", given="text")
    words = ("session", "delete", "s1", "--yes", "--reason")
    assert "contains e-mail, which must not be stored" in tm.refused(*words, "jo@example.org asked")
    ran = tm.run(*words, "its time is over")
    assert (ran.out, ran.err) == ("Session s1 was deleted with 1 action.\n", "")
    assert not Action.objects.exists()


def test_a_missing_scope_is_named(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    narrow = tm.key("read")
    assert "`admin`" in tm.refused("session", "delete", "s1", "--yes", TIMEMACHINE_API_KEY=narrow)
    assert "`record`" in tm.refused("session", "end", "s1", TIMEMACHINE_API_KEY=narrow)
    assert "`run`" in tm.refused("session", "replay", "s1", TIMEMACHINE_API_KEY=narrow)


def test_an_import_reports_every_line(tm: Here) -> None:
    source = tm.file("run.jsonl", transcript("Hallo", "Wieso?") + "not json\n\n[1]\n")
    ran = tm.run("session", "import", source)
    assert ran.code == 0, ran
    stored = Session.objects.get()
    head, row, lines, *reasons = ran.out.splitlines()
    assert head.split() == ["session", "key", "name", "actions", "already", "imported"]
    assert row.split() == [str(stored.id), "s1", "Hallo", "2", "0"]
    assert lines == "4 lines imported as 2 messages; 2 lines skipped."
    assert [reason.split(":")[0] for reason in reasons] == ["  line 3", "  line 5"]
    repeated = tm.json("session", "import", source)
    assert repeated["sessions"][0]["already_there"] == 2


def test_one_file_gives_a_document_and_several_give_a_list(tm: Here) -> None:
    a, b = (tm.file(f"{name}.jsonl", transcript("hi", session=name)) for name in "ab")
    one = tm.json("session", "import", a)
    assert [each["key"] for each in one["sessions"]] == ["a"]
    both = tm.json("session", "import", a, b, "--format", "claude_code")
    assert [each["sessions"][0]["key"] for each in both["imports"]] == ["a", "b"]
    ran = tm.run("session", "import", a, b)
    assert f"{a}:\n" in ran.out
    assert f"{b}:\n" in ran.out


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("notes.txt", b"Just some notes.\n", "notes.txt is not a transcript"),
        ("image.png", b"\x89PNG\r\n\x1a\n\x00\xff", "image.png is not a transcript"),
        ("empty.jsonl", b"", "empty"),
    ],
)
def test_a_file_that_is_not_a_transcript_is_refused(name: str, content: bytes, says: str, tm: Here) -> None:
    assert says in tm.refused("session", "import", tm.file(name, content))


def test_an_imported_session_has_exactly_the_times_of_its_file(tm: Here) -> None:
    about = {"format": "timemachine-session", "version": 1, "key": "dated", "name": "n", "through": 1}
    times = {"started_at": "2026-11-20T09:00:00Z", "ended_at": "2026-11-20T09:01:00Z"}
    own = [about | times, {"sequence": 1, "kind": "event"}]
    tm.run("session", "import", tm.file("own.jsonl", "\n".join(map(json.dumps, own))))
    tm.run("session", "import", tm.file("run.jsonl", transcript("hi", session="undated")))
    dated, undated = (tm.run("session", "view", key).out for key in ("dated", "undated"))
    assert re.search(r"started +2026-11-20 09:00.*\nended +2026-11-20 09:01.*\nduration +1 min", dated)
    assert re.search(r"started +not recorded\nended +not recorded\n", undated)
    assert re.search(r"undated .* not recorded ", tm.run("session", "list").out)


def test_an_empty_file_is_reported_as_empty(tm: Here) -> None:
    empty = tm.file("none.jsonl", "")
    assert tm.refused("session", "import", empty).endswith("none.jsonl: The file is empty.\n")
    ran = tm.run("session", "import", "-", given="")
    assert (ran.code, ran.err) == (1, "Standard input: The file is empty.\n")


def test_standard_input_a_pipe_and_a_compressed_file_are_imported(tm: Here) -> None:
    assert "1 message;" in tm.run("session", "import", "-", given=transcript("hi", session="a")).out
    packed = tm.file("b.jsonl.gz", gzip.compress(transcript("hi", session="b").encode()))
    assert "1 message;" in tm.run("session", "import", packed).out
    pipe = tm.folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[transcript("hi", session="c")])
    writer.start()
    assert "1 message;" in tm.run("session", "import", str(pipe)).out
    writer.join()
    assert Session.objects.count() == 3


@pytest.mark.usefixtures("worker")
def test_a_compressed_file_that_a_worker_imports_is_waited_for(tm: Here, settings: Settings) -> None:
    settings.MAX_REQUEST_BYTES = 1_000
    packed = tm.file("long.jsonl.gz", gzip.compress(transcript(*["hi " * 100] * 9).encode()))
    assert "9 lines imported as 9 messages; 0 lines skipped." in tm.run("session", "import", packed).out


def test_an_unknown_format_is_refused_with_the_known_ones(tm: Here) -> None:
    source = tm.file("run.jsonl", transcript("hi"))
    assert "claude_code" in tm.refused("session", "import", source, "--format", "nobodys")


def test_an_unreadable_file_does_not_stop_the_others(tm: Here) -> None:
    source = tm.file("run.jsonl", transcript("hi"))
    says = "not-here.jsonl: Cannot read it (No such file or directory)."
    ran = tm.run("session", "import", source, "not-here.jsonl")
    assert (ran.code, "1 message" in ran.out, says in ran.err) == (1, True, True)
    assert Session.objects.count() == 1
    output = tm.run("session", "import", "not-here.jsonl", source, "--json")
    imported, refused = json.loads(output.out)["imports"]
    assert (imported["sessions"][0]["already_there"], refused["error"]["code"]) == (1, "unreadable")
    assert says in tm.refused("session", "import", "not-here.jsonl")
    assert "Cannot read it (not a file name)." in tm.refused("session", "import", "a\0b")
    assert tm.run("session", "import").code == 2


def test_a_folder_is_imported_with_one_line_for_each_file(tm: Here) -> None:
    (tm.folder / "logs" / "of june").mkdir(parents=True)
    (tm.folder / "logs" / ".git").mkdir()
    tm.file("logs/.git/hidden.jsonl", transcript("hi", session="hidden"))
    first = tm.file("logs/a.jsonl", transcript("hi", "you", session="a") + "not json\n")
    second = tm.file("logs/of june/b.jsonl", transcript("hi", session="b"))
    notes, nothing = tm.file("logs/notes.txt", "Just some notes.\n"), tm.file("logs/none.jsonl", "")
    folder = str(tm.folder / "logs")

    ran = tm.run("session", "import", folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == [
        f"{first}: session a, 2 actions, 2 new, 1 line skipped",
        f"{second}: session b, 1 action, 1 new",
    ]
    assert {line.partition(": skipped: ")[0] for line in ran.out.splitlines()[2:]} == {notes, nothing}
    imports = tm.json("session", "import", folder)["imports"]
    assert [each["error"]["code"] for each in imports[2:]] == ["empty_file", "unknown_format"]
    assert {each.key for each in Session.objects.all()} == {"a", "b"}


def test_a_folder_in_which_nothing_can_be_imported_is_refused(tm: Here) -> None:
    (tm.folder / "logs").mkdir()
    tm.file("logs/notes.txt", "Just some notes.\n")
    folder = str(tm.folder / "logs")
    assert tm.refused("session", "import", folder) == f"{folder}: 1 file, and none can be imported.\n"


def test_a_problem_with_a_recording_in_a_folder_is_reported(tm: Here) -> None:
    (tm.folder / "logs").mkdir()
    tm.json("session", "start", "notes", "--name", "n", "--key", "taken")
    own = tm.file("logs/a.jsonl", transcript("hi", session="taken"))
    tm.file("logs/b.jsonl", transcript("hi", session="b"))
    ran = tm.run("session", "import", str(tm.folder / "logs"))
    assert (ran.code, "session b, 1 action" in ran.out) == (1, True)
    assert ran.err.startswith(f"{own}: A session with the key 'taken' was recorded here")


def test_a_refused_file_does_not_stop_the_others(tm: Here) -> None:
    bad, worse = tm.file("bad.txt", "notes"), tm.file("worse.txt", "more notes")
    good, fine = (tm.file(f"{name}.jsonl", transcript("hi", session=name)) for name in ("good", "fine"))
    ran = tm.run("session", "import", bad, good, worse, fine)
    assert (ran.code, ran.err.count("\n"), bad in ran.out) == (1, 1, False)
    assert f"{good}:\n" in ran.out
    assert f"{fine}:\n" in ran.out
    assert "bad.txt is not a transcript" in ran.err
    assert "worse.txt is not a transcript" in ran.err
    assert Session.objects.count() == 2
    output = tm.run("session", "import", bad, good, "--json")
    imported, refused = json.loads(output.out)["imports"]
    assert (output.code, imported["sessions"][0]["key"]) == (1, "good")
    assert (refused["file"], refused["error"]["code"]) == (bad, "unknown_format")


def test_a_file_in_another_format_than_named_is_refused_with_its_format(tm: Here) -> None:
    says = tm.refused("session", "import", tm.file("run.jsonl", transcript("hi")), "--format", "codex")
    assert "run.jsonl looks like “Claude Code session" in says
    assert "Leave the format out or use claude_code" in says


def test_an_import_does_not_replace_a_session_recorded_here(tm: Here) -> None:
    start_session(tm.project, name="n", key="s1", by="test")
    assert "cannot be replaced by an import" in tm.refused(
        "session", "import", tm.file("run.jsonl", transcript("hi"))
    )


@pytest.mark.recordings
def test_a_real_recording_is_imported_and_shown(tm: Here, recordings: Path) -> None:
    (source, *_) = sorted((recordings / "claude_code").glob("*.jsonl"))
    done = tm.json("session", "import", str(source))
    (imported,) = done["sessions"]
    assert imported["actions"] == sum(done["report"]["became"].values()) > 0
    ran = tm.run("session", "view", imported["id"])
    assert len(ran.out.partition("\n\n")[2].splitlines()) == imported["actions"]
