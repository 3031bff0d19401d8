"""training export and report, against a real server."""

import json
from pathlib import Path

from tests.cli.terminal import Here


def test_three_files_and_what_is_left_out(tm: Here, tmp_path: Path) -> None:
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    target = tmp_path / "pairs"
    ran = tm.run("training", "export", "-o", str(target), "--shares", "100,0,0")
    assert ran.out.splitlines()[:3] == [
        f"{target / part}.jsonl: 0 bytes" for part in ("train", "valid", "test")
    ]
    assert "no turn of it is a solution" in ran.out
    assert [each.name for each in sorted(target.iterdir())] == ["test.jsonl", "train.jsonl", "valid.jsonl"]
    report = json.loads(tm.run("training", "report", "--json", "--form", "dpo").out)
    assert (report["pairs"], report["form"]) == (0, "dpo")
    assert "make 100 together" in tm.refused("training", "report", "--shares", "1,2,3")
    (tmp_path / "file").write_text("x")
    assert "could not be made" in tm.refused("training", "export", "-o", str(tmp_path / "file"))
