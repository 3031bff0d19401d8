"""`status` and `demo`, and the errors of every command without a usable server."""

import json

import pytest

from tests.cli.terminal import Here, Terminal
from tests.client.other_server import answering, other_server
from timemachine.core.pure.home import RunningServer, announce, local_key_file, write_private
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay

EVERY_COMMAND = [
    ("status",),
    ("demo",),
    ("demo", "--remove"),
    ("put", "c", "-"),
    ("find", "c", "--query", "q"),
    ("ask", "c", "--question", "q"),
    ("session", "start", "c", "--name", "n"),
    ("session", "end"),
    ("session", "end", "s1"),
    ("session", "status"),
    ("session", "list"),
    ("session", "view", "s1"),
    ("session", "delete", "s1", "--yes"),
    ("session", "checkpoint", "--name", "c"),
    ("session", "replay", "s1"),
    ("share", "create", "s1"),
    ("share", "list"),
    ("share", "revoke", "l1"),
    ("key", "create", "--name", "n", "--scope", "read"),
    ("key", "list"),
    ("key", "revoke", "k1"),
]


def refusal(terminal: Terminal, words: tuple[str, ...], **environment: str | None) -> str:
    """The one-line error of a refused command, with or without --json."""
    plain, as_json = (terminal.run(*words, *more, given="text", **environment) for more in ((), ("--json",)))
    assert (plain.code, plain.out) == (as_json.code, as_json.out) == (1, "")
    assert plain.err == as_json.err
    assert plain.err.count("\n") == 1
    return plain.err


@pytest.mark.parametrize("words", EVERY_COMMAND)
def test_a_command_without_a_server_explains_what_to_do(words: tuple[str, ...], terminal: Terminal) -> None:
    assert "`timemachine up`" in refusal(terminal, words)
    assert "Set TIMEMACHINE_URL to a URL like" in refusal(terminal, words, TIMEMACHINE_URL="localhost:8000")
    nowhere = "http://127.0.0.1:1"
    assert f"No server at {nowhere} (Connection refused)" in refusal(
        terminal, words, TIMEMACHINE_URL=nowhere, TIMEMACHINE_API_KEY="tmk_a_b"
    )


def test_a_command_without_a_valid_key_explains_where_to_create_one(tm: Here) -> None:
    with tm.unchanged():
        for words in EVERY_COMMAND:
            assert "unknown, revoked or expired" in refusal(tm, words, TIMEMACHINE_API_KEY="tmk_abc_def")
            assert "TIMEMACHINE_API_KEY" in refusal(tm, words, TIMEMACHINE_API_KEY=None)


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"items": 3}', b'{"items": [{}], "next": null, "status": "ready"}', b"[]"]
)
def test_no_command_crashes_on_an_unexpected_answer(body: bytes, terminal: Terminal) -> None:
    with other_server(answering(200, body)) as url:
        for words in EVERY_COMMAND:
            ran = terminal.run(*words, given="text", TIMEMACHINE_URL=url, TIMEMACHINE_API_KEY="tmk_a_b")
            assert ran.code in (0, 1)
            assert ran.err.count("\n") == ran.code


def test_status_shows_the_server(tm: Here) -> None:
    ran = tm.run("status")
    assert ran.code == 0
    assert ran.out.splitlines()[:2] == [f"server   {tm.url}", "status   ready, and the key is accepted"]
    assert ran.out.splitlines()[2].startswith("project  ")
    assert tm.json("status")["data_folder"] is None


def test_a_local_server_is_found_and_its_data_folder_shown(tm: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(RunningServer(pid=1, url=tm.url + "/", database_url="postgresql://"))
    write_private(local_key_file(), tm.key("read") + "\n")
    monkeypatch.delenv("TIMEMACHINE_URL")
    monkeypatch.delenv("TIMEMACHINE_API_KEY")
    document = tm.json("status")
    assert (document["url"], document["data_folder"]) == (tm.url, str(tm.folder / "home"))
    assert "`record`" in tm.refused("session", "start", "c", "--name", "n")


def test_a_server_without_its_database_is_not_ready(tm: Here) -> None:
    body = json.dumps({"status": "not ready", "why": "the database is not responding"}).encode()
    with other_server(answering(503, body)) as url:
        assert f"{url} is not ready: the database is not responding." in tm.refused(
            "status", TIMEMACHINE_URL=url
        )


def test_the_demo_is_loaded_once_and_removed_completely(tm: Here) -> None:
    ran = tm.run("demo")
    assert ran.code == 0, ran
    session = Session.objects.get()
    assert ran.out.startswith("The demo is loaded.\nsession       http")
    assert f"/sessions/{session.id}/" in ran.out
    assert all(f"/replays/{replay.id}/" in ran.out for replay in Replay.objects.all())
    assert "/share/" in ran.out
    with tm.unchanged():
        repeated = tm.run("demo")
    assert repeated.out.startswith("The demo was already loaded.\n")
    assert tm.run("demo", "--remove").out == "The demo was removed.\n"
    assert not Session.objects.exists()
    assert tm.run("demo", "--remove").out == "There is no demo to remove.\n"


def test_the_demo_as_json_is_the_api_document(tm: Here) -> None:
    made = tm.json("demo")
    assert made["session"]["id"] == str(Session.objects.get().id)
    assert tm.json("demo", "--remove") == {"removed": True}


def test_a_data_folder_that_is_a_file_has_no_server(terminal: Terminal) -> None:
    folder = terminal.file("a-file", "not a folder")
    assert "`timemachine up`" in refusal(terminal, ("status",), TIMEMACHINE_HOME=folder)
