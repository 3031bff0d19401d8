"""Unusual ends of sessions: exits, reused ids and missing states are recorded correctly and reported."""

import pytest

from tests.client.conftest import Served
from timemachine.client.errors import NotRecorded
from timemachine.recording.sessions.models import Session


@pytest.mark.parametrize("way_out", ["sys.exit(0)", "sys.exit()"])
def test_a_program_that_exits_with_success_is_not_an_error(served: Served, way_out: str) -> None:
    program = (
        "import sys\nfrom timemachine.client import TimeMachine\n"
        "with TimeMachine().session('Leaves', key='leaves') as s:\n"
        f"  with s.tool_call('t'):\n    {way_out}"
    )
    process = served.run(program)
    assert process.communicate() == ("", "")
    assert process.returncode == 0
    assert [(each.kind, each.error_type) for each in served.actions("leaves")] == [("tool_call", None)]


def test_a_program_that_exits_with_a_failure_code_is_an_error(served: Served) -> None:
    program = "import sys\nfrom timemachine.client import TimeMachine\nwith TimeMachine().session('Leaves', key='leaves'): sys.exit(3)"
    process = served.run(program)
    assert "SystemExit" not in process.communicate()[1]
    assert process.returncode == 3
    assert [each.error_type for each in served.actions("leaves")] == ["SystemExit"]


def test_a_different_action_with_a_used_id_is_refused_and_logged(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.machine().session("Ids", key="ids") as s:
        s.event("one", {"n": 1}, id="same")
        s.event("one", {"n": 1}, id="same")
        assert s.flush()
        s.event("one", {"n": 2}, id="same")
        s.record("user", "after")
        assert not s.flush()
    assert served.outputs("ids") == [{"n": 1}, "after"]
    ((_, action),) = served.refused()
    assert action["output"] == {"n": 2}
    assert "another action with this id" in caplog.text


def test_automatic_checkpoints_without_a_state_cause_a_warning(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.machine().session("No state", checkpoint_every=2) as s:
        s.record("user", "x")
    assert "`checkpoint_every` needs `state`" in caplog.text
    with pytest.raises(NotRecorded, match="needs `state`"):
        served.machine(strict=True).session("No state", checkpoint_every=2)


def test_a_second_session_start_ends_the_first(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    tm = served.machine()
    first = tm.session_start("First")
    tm.current.record("user", "one")
    second = tm.session_start("Second")
    tm.current.record("user", "two")
    tm.session_end()
    assert {key: Session.objects.get(key=key).status for key in (first, second)} == {
        first: "ended",
        second: "ended",
    }
    assert (served.outputs(first), served.outputs(second)) == (["one"], ["two"])
    assert f"Session {first} was still open" in caplog.text
