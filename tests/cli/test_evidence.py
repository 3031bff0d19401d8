"""`evidence export` and `evidence verify`, against a real server."""

import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.builders import compared, recorded_session, replayed, tamper
from tests.cli.terminal import Here
from timemachine.core.pure.clock import now
from timemachine.evidence import commands
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.log.project_log import replace_key
from timemachine.evidence.models import Anchor
from timemachine.evidence.sealing.seals import seal_comparison, seal_replay, seal_session
from timemachine.replay.runs.pure.options import ReplayOptions


def test_a_session_a_replay_and_a_comparison_are_exported_and_verified(tm: Here, tmp_path: Path) -> None:
    session = recorded_session(tm.project, key="s1")
    replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
    comparison = compared(tm.project, [session], "local:extractive-1", "local:extractive-3")
    for named in ("s1", str(session.id), str(replay.id), str(comparison.id)):
        target = tmp_path / f"{named}.zip"
        made = tm.json("evidence", "export", named, "-o", str(target))
        assert made["bytes"] == target.stat().st_size
        verified = tm.json("evidence", "verify", str(target), "--key", made["key"])
        assert (verified["result"], verified["not_checked"]) == ("verified", [])
    assert list(tmp_path.glob("*.part")) == []


def test_an_export_of_an_altered_session_warns(tm: Here, tmp_path: Path) -> None:
    session = recorded_session(tm.project, key="s1")
    seal = seal_session(session.id)
    tamper(
        "UPDATE tm_action SET model = 'other:one' WHERE session_id = %s AND sequence = 2", [str(session.id)]
    )
    commands.run_check(commands.request_check(seal, by="test").id)
    ran = tm.run("evidence", "export", "s1", "-o", str(tmp_path / "s1.zip"))
    assert (ran.code, "differences from the seal" in ran.err) == (0, True)
    assert tm.json("evidence", "export", "s1", "-o", str(tmp_path / "s1.zip"))["altered"] is True


def test_a_check_names_each_difference_and_exits_with_1(tm: Here) -> None:
    session = recorded_session(tm.project, key="s1")
    replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
    comparison = compared(tm.project, [session], "local:extractive-1", "local:extractive-3")
    assert "Nothing is sealed yet." in tm.run("evidence", "check", "s1").err
    for seal, id_ in ((seal_replay, replay.id), (seal_comparison, comparison.id)):
        seal(id_)
        ran = tm.run("evidence", "check", str(id_))
        assert (ran.code, ran.out.startswith("intact: ")) == (0, True)
        assert "repeated steps compared with the seal" in ran.out
    assert tm.json("evidence", "check", "s1")["result"] == "intact"
    tamper("UPDATE tm_session SET cost_usd = 12.5 WHERE id = %s", [str(session.id)])
    tamper("UPDATE tm_action SET label = 'x' WHERE session_id = %s AND sequence = 2", [str(session.id)])
    ran = tm.run("evidence", "check", str(session.id))
    assert ran.code == 1
    assert (
        "DIFFERENCE (label) record 2: Its label is “x”. It must be “How long are invoices kept?”." in ran.out
    )
    assert "DIFFERENCE (total): The session's cost in US dollars (cost_usd) is 12.5." in ran.out
    ran = tm.run("evidence", "check", str(replay.id))
    assert (ran.code, f"record 2 of the session {session.id}" in ran.out) == (1, True)


def test_a_check_that_no_worker_carries_out_ends_after_the_timeout(
    tm: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 0)
    session = recorded_session(tm.project, key="s1")
    seal_session(session.id)
    ran = tm.run("evidence", "check", "s1", "--timeout", "0")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("No result after 0 seconds. The check continues if a worker is running")


def test_the_log_is_exported_and_verified(tm: Here, tmp_path: Path) -> None:
    target = tmp_path / "log.zip"
    assert "log is empty" in tm.run("evidence", "export", "--log", "-o", str(target)).err
    recorded_session(tm.project, key="s1")
    tm.run("evidence", "export", "s1", "-o", str(tmp_path / "s1.zip"))
    made = tm.json("evidence", "export", "--log", "-o", str(target))
    assert tm.json("evidence", "verify", str(target), "--key", made["key"])["checked"]["sealed"] == 1
    compared = tm.json("evidence", "verify", str(target), "--older", str(target), "--key", made["key"])
    assert (compared["older"]["holds"], compared["checked"]["compared"]) == (True, 1)
    for words in (("--log", "s1"), ()):
        ran = tm.run("evidence", "export", *words, "-o", str(target))
        assert (ran.code, "--log" in ran.err) == (2, True)


def test_a_witness_and_a_timestamp_authority_are_set_shown_and_removed(tm: Here, settings: Settings) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    for kind, name, what in (
        ("witness", "witness", "witness"),
        ("authority", "timestamp", "timestamp authority"),
    ):
        assert f"No {what}." in tm.run("evidence", kind).out
        address = f"http://127.0.0.1:9/{kind}"
        assert tm.json("evidence", kind, address)[name]["url"] == address
        shown = tm.run("evidence", kind).out
        for words in (address, "by ", "0 entries of the log", "not yet"):
            assert words in shown
        assert ("Give the witness this key" in shown) == (kind == "witness")
        assert tm.json("evidence", kind, "--none")[name] is None
        assert tm.run("evidence", kind, address, "--none").code == 2
        assert "https" in tm.run("evidence", kind, "ftp://x").err
    assert tm.json("evidence", "witness", "http://127.0.0.1:9/a")["timestamp"] is None


def test_a_failed_anchor_shows_its_error(tm: Here, settings: Settings) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    tm.run("evidence", "authority", "http://127.0.0.1:9/a")
    Anchor.objects.update(error="It says no.", failed_at=now(), size=1)
    shown = tm.run("evidence", "authority").out
    assert "1 entry of the log" in shown
    assert "It says no." in shown


def test_a_verification_failure_exits_with_1_and_names_the_record(tm: Here, tmp_path: Path) -> None:
    recorded_session(tm.project, key="s1")
    target = tmp_path / "s1.zip"
    tm.run("evidence", "export", "s1", "-o", str(target))
    ran = tm.run("evidence", "verify", str(target), "--key", "ed25519:" + "0" * 64)
    assert ran.code == 1
    assert "FAULT (key)" in ran.out


def test_a_file_is_verified_only_with_the_key_that_must_have_signed_it(tm: Here, tmp_path: Path) -> None:
    recorded_session(tm.project, key="s1")
    target = tmp_path / "s1.zip"
    made = tm.json("evidence", "export", "s1", "-o", str(target))
    ran = tm.run("evidence", "verify", str(target), "--key", made["key"])
    assert (ran.code, ran.out.startswith("VERIFIED")) == (0, True)
    ran = tm.run("evidence", "verify", str(target))
    assert (ran.code, ran.out.startswith("CONSISTENT, SIGNER NOT CHECKED")) == (3, True)
    ran = tm.run("evidence", "verify", str(target), "--json")
    assert (ran.code, json.loads(ran.out)["result"]) == (3, "consistent")


def test_an_invalid_request_is_refused_in_one_line(tm: Here, tmp_path: Path) -> None:
    existing = tmp_path / "kept.zip"
    existing.write_text("mine")
    for words, code, says in (
        (("export", "nobody", "-o", str(existing)), 1, "There is no session 'nobody'"),
        (
            ("export", "01a1f886-e402-7fc8-8ad2-c622772394e5", "-o", str(existing)),
            1,
            "There is no comparison",
        ),
        (("export", "nobody"), 2, "-o"),
        (("verify", str(existing)), 2, "not a readable zip file"),
        (("verify", str(tmp_path / "nowhere.zip")), 2, "there is no such file."),
        (("verify", str(existing), "--key", "x"), 2, "64 hexadecimal digits"),
    ):
        ran = tm.run("evidence", *words)
        assert (ran.code, says in ran.err) == (code, True), ran
    assert existing.read_text() == "mine"
    recorded_session(tm.project, key="s1")
    assert "Cannot write" in tm.run("evidence", "export", "s1", "-o", str(tmp_path / "no" / "x.zip")).err


def test_an_export_after_a_key_rotation_names_both_keys(tm: Here, tmp_path: Path) -> None:
    session = recorded_session(tm.project, key="s1")
    seal_session(session.id)
    before = key_in_use(tm.project).fingerprint
    replace_key(tm.project, by="Test")
    target = tmp_path / "s1.zip"
    ran = tm.run("evidence", "export", "s1", "-o", str(target))
    assert f"--key {key_in_use(tm.project).fingerprint}" in ran.out
    assert f"an earlier key, which was replaced: {before}" in ran.out


def test_a_file_that_cannot_be_checked_still_gives_a_json_document(tm: Here, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.zip")
    ran = tm.run("evidence", "verify", nowhere, "--json")
    assert ran.code == 2
    found = json.loads(ran.out)
    assert (found["result"], found["file"], found["says"]) == ("unreadable", nowhere, "there is no such file")
