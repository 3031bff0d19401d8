"""`session continue`, against a real server with a worker and a stub of the models."""

import json

import pytest

from tests.cli.terminal import Here
from tests.replay.continuation.conftest import SECOND, A, B, chat_drafts, play, repeat
from tests.stub_model_server import Script, StubModelServer
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session

MODEL = ("--use-model", "openai:gpt-4o")


def test_it_shows_each_step_of_the_branch_and_the_end_in_one_line(
    tm: Here, adding: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    ran = tm.run("session", "continue", "adding", "--from", "1", *MODEL)
    assert (ran.code, ran.err) == (0, "")
    *steps, blank, end, address = ran.out.splitlines()
    assert len(steps) == 8
    assert blank == ""
    assert "is done: Followed the recording to its end: 4 calls, 3 tool results from the record" in end
    assert address.startswith(f"{tm.url}/compare/?a={adding.id}&b=")


def test_a_result_is_supplied_and_it_goes_on(tm: Here, adding: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="", tools=(("ask_user", {"about": "c.txt"}),), times=1))
    stub.script(Script(answer="Thanks."))
    ran = tm.run("session", "continue", "adding", "--from", "1", *MODEL, "--json")
    found = json.loads(ran.out)
    (missing,) = found["continuation"]["ending"]["unanswered"]
    assert (missing["tool"], missing["nearest"]) == ("ask_user", None)
    ran = tm.run("session", "continue", found["id"], "--result", "ask_user=Go ahead.")
    assert ran.code == 0
    assert "1 result supplied by a person" in ran.out
    assert stub.calls()[-1].body["messages"][-1]["content"] == "Go ahead."


def test_an_empty_result_is_named_as_such(tm: Here, adding: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="", tools=(("ask_user", {}),), times=1))
    stub.script(Script(answer="Thanks."))
    ran = tm.run("session", "continue", "adding", "--from", "1", *MODEL, "--json")
    continuation = json.loads(ran.out)["id"]
    refused = tm.run("session", "continue", continuation, "--result", "ask_user=")
    assert (refused.code, "--empty-result ask_user" in refused.err, len(stub.calls())) == (2, True, 1)
    assert tm.run("session", "continue", continuation, "--empty-result", "ask_user").code == 0
    assert stub.calls()[-1].body["messages"][-1]["content"] == ""


def test_the_next_message_of_the_user_is_sent_or_another_one(
    tm: Here, adding: Session, stub: StubModelServer
) -> None:
    append(start_session(tm.project, name="Two files", by="test", key="chat").id, chat_drafts())
    play(stub, A, "a.txt has 7 lines.", "Sorry.", B, SECOND)
    begun = tm.run(
        "session", "continue", "chat", "--from", "2", *MODEL, "--user-messages", "agreed", "--json"
    )
    replay_id = json.loads(begun.out)["id"]
    assert json.loads(begun.out)["continuation"]["ending"]["next_message"] == 5
    assert "waiting" not in tm.run("session", "continue", replay_id, "--message", "Look again.").err
    assert stub.calls()[-1].body["messages"][-1]["content"] == "Look again."
    ran = tm.run("session", "continue", replay_id, "--recorded-message")
    assert ran.code == 0
    assert "1 user message from the record, 1 message written by a person" in ran.out


def test_messages_and_results_can_be_in_files(tm: Here, adding: Session, stub: StubModelServer) -> None:
    stub.script(Script(answer="", tools=(("ask_user", {}),), times=1))
    stub.script(Script(answer="Thanks."))
    (tm.folder / "messages.json").write_text('[{"role": "user", "content": "Ask me."}]')
    (tm.folder / "answer.txt").write_text("Yes.")
    ran = tm.run(
        "session",
        "continue",
        "adding",
        "--from",
        "1",
        *MODEL,
        "--messages",
        str(tm.folder / "messages.json"),
        "--json",
    )
    assert stub.calls()[0].body["messages"][-1]["content"] == "Ask me."
    file = f"ask_user={tm.folder / 'answer.txt'}"
    assert tm.run("session", "continue", json.loads(ran.out)["id"], "--result-file", file).code == 0
    assert stub.calls()[-1].body["messages"][-1]["content"] == "Yes."


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("adding", "--from", "2", *MODEL), 1, "Step 2 is a tool call"),
        (("adding", "--from", "1"), 2, "--use-model"),
        (("adding", "--from", "1", *MODEL, "--result", "a=b"), 2, "--result"),
        (
            ("adding", *MODEL, "--system-prompt", "s", "--repeatable", "t"),
            2,
            "--use-model, --system-prompt, --repeatable",
        ),
        (("adding",), 2, "adding is a session. Give --from N"),
        (("nothing",), 1, "no replay 'nothing'"),
        (("adding", "--from", "99999999999999999999", *MODEL), 1, "`from` must be less than 4,611"),
        (("adding", "--result-file", "a=/nope"), 1, "Cannot read /nope (No such file or directory)."),
        (("adding", "--from", "1", *MODEL, "--recorded-message"), 2, "--message"),
        (("adding", "--result", "nothing"), 2, "TOOL=TEXT"),
        (("adding", "--result-file", "a=nowhere.txt"), 1, "nowhere.txt"),
        (("adding", "--from", "1", *MODEL, "--messages", "nowhere.json"), 1, "nowhere.json"),
    ],
)
def test_wrong_use_says_what_to_do(
    tm: Here, adding: Session, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = tm.run("session", "continue", *arguments)
    assert (ran.code, message in ran.err) == (code, True), ran.err


def test_a_repeatable_tool_without_results_is_refused_with_those_that_have_some(
    tm: Here, adding: Session, stub: StubModelServer
) -> None:
    refused = tm.refused("session", "continue", "adding", "--from", "1", *MODEL, "--repeatable", "Nope")
    assert (
        "no result of the tool 'Nope' that could be used again. It has results of read_file, write_file."
        in refused
    )


def test_messages_must_be_a_list(tm: Here, adding: Session) -> None:
    for text in ("{}", "no json"):
        file = tm.folder / "messages.json"
        file.write_text(text)
        ran = tm.run("session", "continue", "adding", "--from", "1", *MODEL, "--messages", str(file))
        assert (ran.code, "JSON" in ran.err) == (1, True)
