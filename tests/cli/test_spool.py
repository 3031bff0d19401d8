"""`spool list`, `spool send` and `spool drop`: recordings on this machine that were not delivered."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Here, Terminal
from timemachine.client import TimeMachine
from timemachine.core.payloads.queries import value
from timemachine.recording.sessions.models import Session

UNREACHABLE = "http://127.0.0.1:9"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spool folder that the environment names."""
    monkeypatch.setenv("TIMEMACHINE_SPOOL", str(tmp_path / "spool"))
    return tmp_path / "spool"


@pytest.fixture
def record(folder: Path) -> Callable[..., None]:
    """Record some numbers into a session, with a client that is closed afterwards."""

    def recorded(key: str, *numbers: int, url: str | None = None) -> None:
        with TimeMachine(url, patience=20) as machine, machine.session(key.title(), key=key) as s:
            for number in numbers:
                s.record("user", number)

    return recorded


def outputs(key: str) -> list[object]:
    """The outputs of a session."""
    return [value(each.output) for each in Session.objects.get(key=key).actions.order_by("sequence")]


def refused_recording(tm: Here, folder: Path, key: str) -> str:
    """The name of a file with two actions that were recorded after someone had ended their session."""
    machine = TimeMachine(patience=20)
    s = machine.session("Ended", key=key)
    s.record("user", 0)
    assert s.flush()
    assert tm.run("session", "end", key).code == 0
    s.record("user", 1)
    s.record("user", 2)
    assert not machine.close()
    return undelivered(tm)


def undelivered(tm: Here) -> str:
    """The name of the only recording that was not delivered."""
    (item,) = tm.json("spool", "list")["items"]
    return str(item["file"])


def ended_session() -> None:
    """A session with the key `over` that has ended."""
    with TimeMachine(patience=20) as machine, machine.session("Over", key="over") as s:
        s.record("user", 0)


def test_a_fully_delivered_recording_leaves_nothing(tm: Here, record: Callable[..., None]) -> None:
    record("one", 1)
    assert tm.run("spool", "list").out == "No recordings here. Everything was delivered.\n"
    assert tm.json("spool", "list") == {"items": [], "next": None}
    assert tm.run("spool", "send").out == "Nothing to send.\n"


def test_waiting_recordings_are_listed_and_sent(tm: Here, record: Callable[..., None], folder: Path) -> None:
    record("away", 1, 2, 3, url=UNREACHABLE)
    name = undelivered(tm)
    (item,) = tm.json("spool", "list")["items"]
    assert (item["file"], item["session"], item["name"], item["actions"], item["state"], item["url"]) == (
        name, "away", "Away", 3, "waits", UNREACHABLE,
    )  # fmt: skip
    row = tm.run("spool", "list").out.splitlines()[1].split()
    assert row == [name, "away", "3", "waits", UNREACHABLE]
    assert tm.run("spool", "send").out.splitlines() == [
        "Nothing to send with this API key.",
        "1 recording for another API key or server skipped. List them with `timemachine spool list`; "
        "send one with this key using `timemachine spool send RECORDING`.",
    ]
    assert tm.run("spool", "send", name).out == f"3 actions of {name} delivered to session away.\n"
    assert outputs("away") == [1, 2, 3]
    assert Session.objects.get(key="away").status == "ended"
    assert list(folder.iterdir()) == []


def test_a_recording_made_with_another_key_is_reported(
    tm: Here, record: Callable[..., None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = f"tmk_{'A' * 8}_{'b' * 43}"
    with monkeypatch.context() as once:
        once.setenv("TIMEMACHINE_API_KEY", away)
        with TimeMachine(patience=0.1) as machine:
            machine.session("Away", key="away").record("user", 1)
    (item,) = tm.json("spool", "list")["items"]
    name = item["file"]
    assert away not in str(item)
    assert item["key_id"]
    says = f"It was recorded with another API key ({item['key_id']})."
    assert says in tm.run("spool", "list").out
    assert says not in tm.run("spool", "list", TIMEMACHINE_API_KEY=away).out
    assert tm.run("spool", "list", TIMEMACHINE_URL="", TIMEMACHINE_API_KEY="").code == 0
    assert [each["file"] for each in tm.json("spool", "send")["passed_over"]] == [name]
    record("ours", 2, url=UNREACHABLE)
    output = tm.run("spool", "send").out
    assert "2 recordings for another API key or server skipped. " in output
    assert tm.run("spool", "send", name).out == f"1 action of {name} delivered to session away.\n"
    assert outputs("away") == [1]


def test_refused_actions_can_be_sent_as_another_session(tm: Here, folder: Path) -> None:
    name = refused_recording(tm, folder, "ended")
    (item,) = tm.json("spool", "list")["items"]
    assert (item["state"], item["actions"], "has ended" in item["why"]) == ("refused", 2, True)
    ran = tm.run("spool", "send", name)
    assert (ran.code, ran.out.split(" of ")[0]) == (1, "0 actions")
    assert "2 actions not delivered: Session ended has ended" in ran.err
    assert undelivered(tm) == name
    assert tm.json("spool", "send", name, "--as", "rescued")["items"][0]["arrived"] == 2
    assert outputs("rescued") == [1, 2]
    assert outputs("ended") == [0]
    assert {each.status for each in Session.objects.all()} == {"ended"}
    assert Session.objects.get(key="rescued").name == "Ended"
    assert list(folder.iterdir()) == []


def test_a_waiting_recording_can_be_sent_under_another_key(
    tm: Here, record: Callable[..., None], folder: Path
) -> None:
    record("away", 1, 2, url=UNREACHABLE)
    assert tm.run("spool", "send", undelivered(tm), "--as", "other").code == 0
    assert outputs("other") == [1, 2]
    assert not Session.objects.filter(key="away").exists()
    assert list(folder.iterdir()) == []


def test_actions_refused_by_another_session_stay_in_their_file(tm: Here, folder: Path) -> None:
    name = refused_recording(tm, folder, "ended")
    ended_session()
    ran = tm.run("spool", "send", name, "--as", "over")
    assert (ran.code, "2 actions not delivered: Session over has ended" in ran.err) == (1, True)
    (item,) = tm.json("spool", "list")["items"]
    assert (item["file"], item["session"], item["actions"], item["state"]) == (name, "ended", 2, "refused")
    assert item["why"].startswith("Session over has ended")
    assert tm.run("spool", "send", name, "--as", "rescued").code == 0
    assert outputs("rescued") == [1, 2]
    assert list(folder.iterdir()) == []


def test_a_waiting_recording_refused_under_another_key_stays_unchanged(tm: Here, folder: Path) -> None:
    ended_session()
    with TimeMachine(UNREACHABLE, patience=0.1) as machine, machine.session("Away", key="away") as s:
        s.record("user", 1)
        s.event("unfit", id="i" * 3_000)
        s.record("user", 2)
    name = undelivered(tm)
    for words, count, why in (
        ({"key": "over"}, 3, "Session over has ended"),
        ({"key": "other", "TIMEMACHINE_URL": UNREACHABLE}, 3, "set TIMEMACHINE_URL"),
        ({"key": "other"}, 1, "1,000"),
    ):
        key = words.pop("key")
        ran = tm.run("spool", "send", name, "--as", key, **words)
        assert (ran.code, f"{count} action" in ran.err, why in ran.err) == (1, True, True), ran
        (item,) = tm.json("spool", "list")["items"]
        assert (item["file"], item["session"], item["actions"], item["state"], item["url"]) == (
            name, "away", count, "waits", UNREACHABLE,
        )  # fmt: skip
        assert why in item["why"]
    assert outputs("other")[::2] == [1, 2]
    assert Session.objects.get(key="other").status == "ended"
    assert not Session.objects.filter(key="away").exists()
    ran = tm.run("spool", "send", name)
    assert (ran.code, Session.objects.get(key="away").status) == (1, "ended")


def test_a_session_without_actions_waits_until_it_is_created_under_another_key(
    tm: Here, record: Callable[..., None], folder: Path
) -> None:
    record("away", url=UNREACHABLE)
    name = undelivered(tm)
    assert tm.run("spool", "send", name, "--as", "other", TIMEMACHINE_URL=UNREACHABLE).code == 0
    (item,) = tm.json("spool", "list")["items"]
    assert (item["file"], item["session"], item["actions"]) == (name, "away", 0)
    assert tm.run("spool", "send", name, "--as", "other").code == 0
    assert Session.objects.get(key="other").status == "ended"
    assert list(folder.iterdir()) == []


def test_each_undelivered_recording_gives_its_reason(tm: Here, folder: Path) -> None:
    first = refused_recording(tm, folder, "ended")
    with TimeMachine(patience=20) as machine, machine.session("Unfit", key="unfit") as s:
        s.event("unfit", id="i" * 3_000)
    (second,) = {each["file"] for each in tm.json("spool", "list")["items"]} - {first}
    ran = tm.run("spool", "send")
    *lines, summary = ran.err.splitlines()
    assert ran.code == 1
    assert "3 actions not delivered. Use `--as KEY` to send them to another session" in summary
    assert [each.partition(": ")[0] for each in lines] == [
        f"2 actions of {first} not delivered to session ended",
        f"1 action of {second} not delivered to session unfit",
    ]
    assert "Session ended has ended" in lines[0]
    assert "1,000" in lines[1]


def test_a_dropped_recording_is_deleted(tm: Here, folder: Path) -> None:
    name = refused_recording(tm, folder, "ended")
    assert "Answer" in tm.run("spool", "drop", name, given="no\n").err
    assert undelivered(tm) == name
    assert tm.run("spool", "drop", name, "--yes").out == f"Deleted {name} with 2 actions.\n"
    assert list(folder.iterdir()) == []


def test_a_recording_in_use_is_neither_sent_nor_dropped(tm: Here, folder: Path) -> None:
    with TimeMachine(UNREACHABLE, patience=0.1) as machine:
        s = machine.session("Open", key="open")
        s.record("user", 1)
        machine.sender.drain()
        (item,) = tm.json("spool", "list")["items"]
        assert (item["state"], item["actions"]) == ("in_use", 1)
        for words in (("send", item["file"]), ("drop", item["file"], "--yes")):
            assert "End it first" in tm.refused("spool", *words)


def test_without_a_server_every_recording_stays(tm: Here, record: Callable[..., None], folder: Path) -> None:
    record("away", 1, 2, url=UNREACHABLE)
    name = undelivered(tm)
    ran = tm.run("spool", "send", name, TIMEMACHINE_URL=UNREACHABLE)
    assert (ran.code, "2 actions not delivered" in ran.err) == (1, True)
    assert undelivered(tm) == name
    assert tm.run("spool", "send", name).code == 0
    assert outputs("away") == [1, 2]


def test_unknown_recordings_are_refused(tm: Here, folder: Path) -> None:
    folder.mkdir()
    (folder / "other").write_bytes(b"something else\n")
    for words in (("send", "nothing:1"), ("drop", "other", "--yes"), ("drop", "../x", "--yes")):
        assert "There is no recording" in tm.refused("spool", *words)
    assert [each.name for each in folder.iterdir()] == ["other"]


def test_refused_actions_can_be_sent_while_their_process_still_records(tm: Here, folder: Path) -> None:
    with TimeMachine(patience=20) as machine, machine.session("Unfit", key="unfit") as s:
        s.event("unfit", id="i" * 3_000)
        s.record("user", 1)
        assert not s.flush()
        (item,) = tm.json("spool", "list")["items"]
        assert (item["state"], item["actions"]) == ("refused", 1)
        assert tm.run("spool", "send", item["file"]).code == 1
        assert tm.run("spool", "drop", item["file"], "--yes").code == 0
        assert tm.json("spool", "list")["items"] == []
        s.record("user", 2)
    assert outputs("unfit")[1:] == [1, 2]
    assert tm.json("spool", "list")["items"] == []
    assert list(folder.iterdir()) == []


def test_a_damaged_or_unreadable_spool_is_named_with_the_reason(tm: Here, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "a.spool").write_bytes(b"something else\n")
    (folder / "b.spool").mkdir()
    tm.run("spool", "list")
    items = tm.json("spool", "list")["items"]
    assert [(each["file"], each["state"], each["actions"], each["why"]) for each in items] == [
        ("a.spool.damaged", "unreadable", None, "it is damaged"),
        ("b.spool", "unreadable", None, "unable to open database file"),
    ]
    assert "unreadable" in tm.run("spool", "list").out
    assert tm.run("spool", "send").out == "Nothing to send.\n"
    assert "it is damaged" in tm.refused("spool", "send", "a.spool.damaged")
    assert tm.run("spool", "drop", "a.spool.damaged", "--yes").code == 0
    for words in (("send", "b.spool"), ("drop", "b.spool", "--yes")):
        assert "Cannot read or write " in tm.refused("spool", *words)
    assert [each.name for each in folder.iterdir()] == ["b.spool"]


def test_an_unreadable_folder_is_not_reported_as_empty(tm: Here, folder: Path) -> None:
    folder.write_text("no folder")
    assert "(Not a directory)" in tm.refused("spool", "list")


@pytest.mark.parametrize("words", [("drop",), ("send", "--as", "k"), ("send", "a", "b", "--as", "k")])
def test_wrong_usage_exits_with_2(words: tuple[str, ...], terminal: Terminal) -> None:
    assert terminal.run("spool", *words).code == 2
