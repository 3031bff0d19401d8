"""`session compare`, against a real server."""

import pytest

from tests.cli.refunds import refunds
from tests.cli.terminal import Here
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft


def session_of(key: str, *drafts: ActionDraft) -> None:
    session = start_session(Project.objects.get(), name=f"Lauf {key}", by="test", key=key)
    append(session.id, list(drafts))


def call(path: str, *, output: str | None = None, error_message: str | None = None) -> ActionDraft:
    return ActionDraft(
        kind="tool_call", tool="read", input={"path": path}, output=output, error_message=error_message
    )


def ok(tm: Here, *words: str) -> str:
    ran = tm.run(*words)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


@pytest.fixture
def both(tm: Here) -> Here:
    session_of("one", call("a.py", output="1"), call("b.py"), call("c.py"))
    session_of(
        "two", call("a.py", output="2"), call("b.py", error_message="gone"), call("d.py"), call("c.py")
    )
    return tm


def test_two_sessions_are_shown_step_by_step(both: Here) -> None:
    lines = ok(both, "session", "compare", "one", "two").splitlines()
    assert "1 same, 2 modified, 0 moved, 0 only left, 1 only right" in lines
    assert "They diverge at step 3 on the right: tool call read only on the right." in lines
    assert ["steps", "3", "4"] in [line.split() for line in lines]
    assert ["tokens", "not", "recorded", "not", "recorded"] in [line.split() for line in lines]
    signs = [line for line in lines if line[:2] in {"= ", "~ ", "> "}]
    assert [line[0] for line in signs] == ["~", "~", ">", "="]
    assert signs[0].endswith("output")
    assert "error: read gone" in signs[1]
    assert signs[2].split() == [">", "3", "read", "d.py"]


def test_two_runs_that_do_the_same_have_no_divergence(both: Here) -> None:
    assert "No step was found where the agent acted differently." in ok(
        both, "session", "compare", "one", "one"
    )


def test_json_output_is_the_api_document_with_every_pair(both: Here) -> None:
    session_of("long", *(call(f"{number}.py") for number in range(450)))
    found = both.json("session", "compare", "-a", "long", "-b", "long")
    assert len(found["items"]) == 450
    assert found["counts"] == {
        "same": 450,
        "modified": 0,
        "moved": 0,
        "only_left": 0,
        "only_right": 0,
        "not_asked": 0,
    }
    assert found["next"] is None


def test_only_pairs_with_the_chosen_status_are_shown(both: Here) -> None:
    output = ok(both, "session", "compare", "one", "two", "--show", "only_right")
    assert "d.py" in output
    assert "c.py" not in output
    assert "No pairs with the status only left." in ok(
        both, "session", "compare", "one", "two", "--show", "only_left"
    )


@pytest.mark.parametrize(
    "ids", [("one",), ("-a", "one"), ("one", "two", "three"), ("-a", "one", "-b", "two", "x")]
)
def test_two_runs_must_be_given(both: Here, ids: tuple[str, ...]) -> None:
    ran = both.run("session", "compare", *ids)
    assert ran.code == 2
    assert "Name two sessions or replays" in ran.err


def test_an_unknown_run_is_reported_in_one_line(both: Here) -> None:
    assert "nobody" in both.refused("session", "compare", "one", "nobody")


def test_asks_skipped_for_the_spend_limit_are_listed_as_not_asked(
    tm: Here, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    refunds(tm)
    spent = ("--use-model", "openai:gpt-4o", "--skip-finds", "--spend-limit", "0.0000001")
    replay = tm.json("session", "replay", "s1", "--audit", *spent)["id"]
    output = ok(tm, "session", "compare", "s1", replay)
    assert "0 same, 0 modified, 0 moved, 1 only left, 0 only right, 1 not asked\n" in output
    (line,) = [line for line in output.splitlines() if line.startswith("- ")]
    assert "1  When are refunds paid?" in line
    assert "not asked, spend limit: When" in line
    assert "not asked" in ok(tm, "session", "compare", "s1", replay, "--show", "not_asked")
