"""Full disks lose nothing silently: unwritten actions wait in memory, and actions that do not fit there are counted and reported."""

from typing import Any

from tests.client.conftest import Served
from tests.client.spools import recorded_before
from timemachine.client.recording.lines import END, line_of
from timemachine.core.payloads.queries import value
from timemachine.recording.sessions.models import Session

FULL = """
import resource, sys
from timemachine.client import TimeMachine
tm = TimeMachine(patience={patience})
s = tm.session("Full", key="full")
s.record("agent", "0" * 1000)
tm.sender.drain()
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
for number in range(1, 50):
    s.record("agent", str(number) + "0" * 1000)
tm.sender.drain()
{then}
"""


def delivered(served: Served, key: str) -> list[Any]:
    """The outputs of a session, without its reports of refused actions."""
    return [value(each.output) for each in served.actions(key) if each.name != "recorder.refused"]


def short_outputs(served: Served) -> list[str]:
    """Abbreviated outputs of the session."""
    return [str(each).removesuffix("0" * 1000) for each in served.outputs("full")]


def test_actions_that_a_full_disk_cannot_take_are_delivered_from_memory(served: Served) -> None:
    then = "s.end()\nprint(s.flush(), tm.flush(), tm.close())"
    out, err = served.run(FULL.format(patience=20, limit=8_000, then=then)).communicate()
    assert out == "True True True\n"
    assert err.count("wait in memory") == 1
    assert short_outputs(served) == ["", *map(str, range(1, 50))]
    assert Session.objects.get(key="full").status == "ended"
    assert list(served.spool.iterdir()) == []


def test_actions_in_memory_are_written_to_a_file_at_process_exit_if_possible(served: Served) -> None:
    served.gate.shut()
    then = "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)"
    process = served.run(
        FULL.format(patience=0.1, limit=8_000, then="print(tm.close())")
        .replace("(8000, 8000)", "(8000, resource.RLIM_INFINITY)")
        .replace("print(", f"{then}\nprint(")
    )
    out, err = process.communicate()
    assert out == "False\n"
    assert "are lost" not in err
    served.gate.open()
    assert served.machine().deliver_spooled()
    assert short_outputs(served) == ["", *map(str, range(1, 50))]


def test_actions_lost_at_process_exit_are_counted_and_reported(served: Served) -> None:
    served.gate.shut()
    out, err = served.run(FULL.format(patience=0.1, limit=8_000, then="print(tm.close())")).communicate()
    assert out == "False\n"
    stored = len(served.spooled())
    assert f"{50 - stored} actions of session full are lost" in err


def test_actions_that_do_not_fit_in_memory_are_counted_in_the_session(served: Served) -> None:
    then = "print(s.flush(10))\ns.end()\nprint(tm.close())"
    program = FULL.format(patience=10, limit=2_000, then=then).replace(
        "import resource, sys",
        "import resource, sys\nfrom timemachine.client.recording import recording\nrecording.MOST_IN_MEMORY = 20_000",
    )
    program = program.replace(
        "for number in", "tm.sender.delivery._retry_at = __import__('time').monotonic() + 2\nfor number in"
    )
    out, err = served.run(program).communicate()
    assert out == "False\nFalse\n"
    assert err.count("Actions without space are lost and counted.") == 1
    found = served.actions("full")
    lost = sum(value(each.output)["actions"] for each in found if each.name == "recorder.lost")
    assert lost > 0
    assert len([each for each in found if each.name != "recorder.lost"]) + lost == 50


def test_lost_actions_are_reported_before_the_end_of_the_session(served: Served) -> None:
    program = FULL.format(patience=20, limit=2_000, then="s.end()\nprint(tm.close())").replace(
        "import resource, sys",
        "import resource, sys\nfrom timemachine.client.recording import recording\nrecording.MOST_IN_MEMORY = 20_000",
    )
    program = program.replace(
        "for number in",
        "tm.sender.delivery._retry_at = __import__('time').monotonic() + 2\nwith tm.sender._drains:\n for number in",
    ).replace("\n    s.record(", "\n  s.record(")
    out, _ = served.run(program).communicate()
    assert out == "False\n"
    *found, last = served.actions("full")
    assert last.name == "recorder.lost"
    assert len(found) + value(last.output)["actions"] == 50
    assert 15 < len(found) < 25
    assert Session.objects.get(key="full").status == "ended"
    assert list(served.spool.iterdir()) == []


def test_an_empty_spool_file_is_removed(served: Served) -> None:
    served.gate.shut()
    program = """
import resource
from timemachine.client import TimeMachine
for limit in (600, 0):
    tm = TimeMachine(patience=0.1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    s = tm.session("Full", key=f"full-{limit}")
    s.record("agent", "0" * 1000)
    print(tm.close(), s.flush(0.1))
"""
    out, err = served.run(program).communicate()
    assert out == "False False\n" * 2
    for limit in (600, 0):
        assert f"1 actions of session full-{limit} are lost" in err
    assert list(served.spool.iterdir()) == []


SENT_AGAIN = """
import resource, sys
from timemachine.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.argv = ["timemachine", "spool", "send"]
main()
"""


def sent_again(served: Served, *, limit: int = -1) -> tuple[int, str, str]:
    """Send the remaining recordings with a file size limit; the exit code and the output of the command."""
    process = served.run(SENT_AGAIN.format(limit=limit))
    out, err = process.communicate()
    return process.returncode, out, err


def test_actions_refused_again_stay_in_place_on_a_full_disk(served: Served) -> None:
    with served.machine() as tm, tm.session("Ended", key="ended") as s:
        s.record("user", 0)
    late = {"id": "1", "kind": "message", "role": "user", "output": "0" * 1000}
    recorded_before(served.spool, "ended", line_of(late))
    for limit in (-1, 600):
        code, out, err = sent_again(served, limit=limit)
        assert (code, out.startswith("0 actions of ")) == (1, True)
        assert "1 action not delivered: Session ended has ended" in err
        ((why, action),) = served.refused()
        assert (action, "has ended" in why) == (late, True)


def test_a_session_is_not_ended_before_its_refused_actions_are_stored(served: Served) -> None:
    unfit, *fit = ({"id": each, "kind": "message", "output": each} for each in ("i" * 3_000, "1", "2"))
    recorded_before(served.spool, "waits", line_of(fit[0]), line_of(unfit), line_of(fit[1]), END)
    code, out, err = sent_again(served, limit=1_000)
    assert (code, out[:9], "Free up space" in err) == (1, "2 actions", True)
    assert len(served.spooled()) == 4
    assert delivered(served, "waits") == ["1", "2"]
    assert Session.objects.get(key="waits").status == "recording"
    assert sent_again(served)[0] == 1
    ((_, action),) = served.refused()
    assert action["id"] == unfit["id"]
    assert (served.spooled(), delivered(served, "waits")) == ([], ["1", "2"])
    assert Session.objects.get(key="waits").status == "ended"


def test_a_session_continued_in_memory_is_not_ended_before_its_refused_actions_are_stored(
    served: Served,
) -> None:
    program = """
import resource
from timemachine.client import TimeMachine
tm = TimeMachine(patience=5)
s = tm.session("Full", key="full")
s.record("agent", "0")
tm.sender.delivery._retry_at = __import__("time").monotonic() + 1
s.event("unfit", id="i" * 3_000)
tm.sender.drain()
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
s.record("agent", "1")
s.end()
print(tm.client.sessions.get("full")["status"])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
print(tm.close())
"""
    out, err = served.run(program).communicate()
    assert out == "recording\nFalse\n"
    assert "Free up space" in err
    assert delivered(served, "full") == ["0", "1"]
    assert Session.objects.get(key="full").status == "ended"
    ((why, action),) = served.refused()
    assert (action["name"], "1,000" in why) == ("unfit", True)
