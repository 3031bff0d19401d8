"""`session export`, against a real server."""

from pathlib import Path

from tests.builders import recorded_session
from tests.cli.terminal import Here
from tests.client.other_server import answering, other_server
from timemachine.core.pure.streams import CUT_OFF


def test_a_session_is_exported_to_a_file_or_to_standard_output(tm: Here, tmp_path: Path) -> None:
    recorded_session(tm.project, key="s1")
    target = tmp_path / "s1.jsonl"
    made = tm.json("session", "export", "s1", "-o", str(target))
    assert made == {"file": str(target), "bytes": target.stat().st_size, "through": 7}
    assert tm.run("session", "export", "s1", "-o", str(target)).out.endswith("bytes, 7 actions\n")
    assert tm.run("session", "export", "s1").out == target.read_text()


def test_a_failed_export_gives_the_reason(tm: Here, tmp_path: Path) -> None:
    recorded_session(tm.project, key="s1")
    assert "Unknown export format 'word'" in tm.run("session", "export", "s1", "--format", "word").err
    assert tm.run("session", "export", "nobody").code == 1
    assert "-o FILE" in tm.run("session", "export", "s1", "--json").err
    assert "Cannot write" in tm.run("session", "export", "s1", "-o", str(tmp_path / "no" / "s1")).err


def test_an_incomplete_export_leaves_no_file(tm: Here, tmp_path: Path) -> None:
    answer = answering(200, b"{}\n" + CUT_OFF, content_disposition="attachment", last_sequence="7")
    with other_server(answer) as url:
        ran = tm.run("session", "export", "s1", "-o", str(tmp_path / "s1.jsonl"), TIMEMACHINE_URL=url)
    assert (ran.code, "could not complete the file" in ran.err) == (1, True)
    assert list(tmp_path.glob("s1*")) == []
