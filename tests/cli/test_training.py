"""`training export` and `training report`, against a real server."""

import json
from pathlib import Path

from tests.cli.terminal import Here
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft


def solved(tm: Here) -> None:
    begun = start_session(tm.project, name="solved", by="test", key="solved")
    question = ActionDraft(kind="message", role="user", output="Why is it red?")
    answer = ActionDraft(
        kind="message", role="agent", output="Close the connection.", significance="solution"
    )
    append(begun.id, [question, answer])
    end_session(begun.id)


def test_an_export_writes_three_files_and_reports_what_is_left_out(tm: Here, tmp_path: Path) -> None:
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    target = tmp_path / "pairs"
    ran = tm.run("training", "export", "-o", str(target))
    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        "No pairs. No files were written. See the reasons below.",
    )
    assert "no step is marked as a solution" in ran.out
    assert not target.exists()
    tm.run("session", "end", "s1")
    solved(tm)
    ran = tm.run("training", "export", "-o", str(target), "--shares", "100,0,0")
    assert [line.rpartition(":")[0] for line in ran.out.splitlines()[:3]] == [
        f"{target / part}.jsonl" for part in ("train", "valid", "test")
    ]
    assert [each.name for each in sorted(target.iterdir())] == ["test.jsonl", "train.jsonl", "valid.jsonl"]
    report = json.loads(tm.run("training", "report", "--json", "--form", "dpo").out)
    assert (report["pairs"], report["form"]) == (0, "dpo")
    repeated = tm.run("training", "export", "-o", str(target), "--form", "dpo")
    assert "left out 1 solution" in repeated.out
    assert (
        f"{target} still contains train.jsonl, valid.jsonl, test.jsonl from an earlier export" in repeated.err
    )
    assert "add up to 100" in tm.refused("training", "report", "--shares", "1,2,3")
    (tmp_path / "file").write_text("x")
    assert "Cannot create" in tm.refused("training", "export", "-o", str(tmp_path / "file"))
