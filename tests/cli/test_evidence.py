"""evidence export and verify, against a real server."""

from pathlib import Path

from tests.builders import compared, recorded_session, replayed
from tests.cli.terminal import Here
from timemachine.replay.options import ReplayOptions


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


def test_the_log_is_exported_and_verified(tm: Here, tmp_path: Path) -> None:
    target = tmp_path / "log.zip"
    assert "log is empty" in tm.run("evidence", "export", "--log", "-o", str(target)).err
    recorded_session(tm.project, key="s1")
    tm.run("evidence", "export", "s1", "-o", str(tmp_path / "s1.zip"))
    made = tm.json("evidence", "export", "--log", "-o", str(target))
    assert tm.json("evidence", "verify", str(target), "--key", made["key"])["checked"]["sealed"] == 1
    compared = tm.json("evidence", "verify", str(target), "--older", str(target))
    assert (compared["older"]["holds"], compared["checked"]["compared"]) == (True, 1)
    for words in (("--log", "s1"), ()):
        ran = tm.run("evidence", "export", *words, "-o", str(target))
        assert (ran.code, "--log" in ran.err) == (2, True)


def test_a_fault_ends_in_1_and_names_the_record(tm: Here, tmp_path: Path) -> None:
    recorded_session(tm.project, key="s1")
    target = tmp_path / "s1.zip"
    tm.run("evidence", "export", "s1", "-o", str(target))
    ran = tm.run("evidence", "verify", str(target), "--key", "ed25519:" + "0" * 64)
    assert ran.code == 1
    assert "FAULT (key)" in ran.out
    assert tm.run("evidence", "verify", str(target)).out.startswith("VERIFIED")


def test_what_cannot_be_is_refused_in_a_line(tm: Here, tmp_path: Path) -> None:
    kept = tmp_path / "kept.zip"
    kept.write_text("mine")
    for words, code, says in (
        (("export", "nobody", "-o", str(kept)), 1, "There is no session 'nobody'"),
        (("export", "01a1f886-e402-7fc8-8ad2-c622772394e5", "-o", str(kept)), 1, "There is no comparison"),
        (("export", "nobody"), 2, "-o"),
        (("verify", str(kept)), 1, "not a zip file"),
        (("verify", str(kept), "--key", "x"), 2, "64 digits"),
    ):
        ran = tm.run("evidence", *words)
        assert (ran.code, says in ran.err) == (code, True), ran
    assert kept.read_text() == "mine"
    recorded_session(tm.project, key="s1")
    assert (
        "could not be written" in tm.run("evidence", "export", "s1", "-o", str(tmp_path / "no" / "x.zip")).err
    )
