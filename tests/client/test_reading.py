"""Reading and acting through `TimeMachine`: replays with both answers, comparisons, and resuming from a checkpoint."""

import pytest

from tests.client.conftest import Served
from timemachine.client import TimeMachine
from timemachine.client.errors import NotFound, Refused
from timemachine.recording.sessions.models import Session

QUESTION = "How long are invoices kept?"


def recorded_ask(tm: TimeMachine, key: str) -> None:
    """A session with one ask."""
    with tm.session("Asked", key=key, collection="handbook", agent="desk") as s:
        s.put("Invoices are kept for ten years. Letters are kept for six years.", title="Retention")
        s.record("user", QUESTION)
        s.ask(QUESTION, use_model="local:extractive-3")


def test_an_audit_replay_shows_both_answers_of_each_ask(served: Served, worker: None) -> None:
    tm = served.machine()
    recorded_ask(tm, "audited")
    looks: list[str] = []
    result = tm.replay("audited", audit=True, reason="look", use_model="local:extractive-1").wait(
        lambda found: looks.append(found["status"])
    )
    (ask,) = result.ask_results
    assert (result.status, looks[-1], ask.question) == ("done", "done", QUESTION)
    assert (ask.original_model, ask.new_model) == ("local:extractive-3", "local:extractive-1")
    assert "ten years" in ask.original_answer
    assert ask.new_answer
    assert (ask.context, ask.error) == ("verified", None)
    assert ask.diff_status in result.verdicts
    assert (ask.original_cost_usd, ask.new_cost_usd) == (0, 0)
    assert (result.cost_usd, result.recorded_cost_usd, result.unknown_cost_calls) == (0, 0, 0)
    assert result.summary


def test_a_replay_in_the_vocabulary_of_memory_files(served: Served, worker: None) -> None:
    tm = served.machine()
    recorded_ask(tm, "memory")
    found = tm.session_replay("memory", audit=True, use_model="local:extractive-3", diff=True)
    (ask,) = [each for each in found["results"] if each["action_type"] == "ask"]
    assert (found["session_id"], found["status"]) == (str(Session.objects.get(key="memory").id), "done")
    assert found["total_actions"] == len(found["results"])
    assert (ask["matched"], ask["diff_status"], ask["new_answer"]) == (
        True,
        "identical",
        ask["original_answer"],
    )
    (result,) = found.ask_results
    assert (result.diff_status, result.new_answer) == ("identical", ask["new_answer"])
    plain = tm.session_replay("memory")
    assert all("new_answer" not in each for each in plain["results"])
    assert plain["match_rate"] == 1.0


def test_the_asks_of_a_launched_replay_are_waited_for(served: Served, worker: None) -> None:
    tm = served.machine()
    recorded_ask(tm, "waited")
    (ask,) = tm.replay("waited", audit=True, reason="look", use_model="local:extractive-1").ask_results
    assert ask.new_model == "local:extractive-1"


def test_what_is_done_by_name_is_recorded_in_the_current_session(served: Served) -> None:
    tm = served.machine()
    key = tm.session_start("By name", collection="handbook")
    tm.put("Invoices are kept for ten years.", title="Retention")
    assert tm.find("invoices")["sequence"] == 2
    assert tm.ask(QUESTION, model="local:extractive-3")["model"] == "local:extractive-3"
    tm.session_checkpoint(messages=["hi"])
    assert (tm.session_end()["action_count"], tm.resume(key).messages) == (5, ["hi"])
    asked = tm.client.collections.ask("handbook", question=QUESTION, model="local:extractive-1")
    assert asked["model"] == "local:extractive-1"


def test_a_session_without_a_collection_asks_the_one_that_is_named(served: Served, worker: None) -> None:
    tm = served.machine()
    with tm.session("Named", key="named") as s:
        with pytest.raises(Refused, match="without a collection"):
            s.ask(QUESTION)
        s.put("Invoices are kept for ten years.", collection="handbook")
        assert s.find("invoices", collection="handbook")["sequence"] == 2
        answer = s.ask(QUESTION, collection="handbook", model="local:extractive-3")
    assert "ten years" in (answer["answer"] or "")
    (ask,) = tm.replay("named", audit=True, reason="look", use_model="local:extractive-1").ask_results
    assert ask.context == "verified"


def test_a_session_is_started_and_ended_by_name(served: Served) -> None:
    tm = served.machine()
    with pytest.raises(NotFound, match="session_start"):
        tm.session_end()
    key = tm.session_start("By name")
    tm.current.record("user", "x")
    tm.current.checkpoint("here", {"messages": []})
    found = tm.session_end()
    assert (found["key"], found["name"], found["action_count"], found["checkpoint_count"]) == (
        key,
        "By name",
        2,
        1,
    )
    assert found["duration_secs"] is not None
    assert found["ended"] is not None
    with pytest.raises(NotFound):
        _ = tm.current


def test_sessions_are_listed_and_compared(served: Served) -> None:
    tm = served.machine()
    for number in (1, 2):
        with tm.session(f"Session {number}", key=f"s{number}", agent="desk") as s:
            s.record("user", "same")
            s.record("agent", number)
    assert [each["key"] for each in tm.sessions(agent="desk")] == ["s2", "s1"]
    assert list(tm.sessions(agent="nobody")) == []
    assert [each["key"] for each in tm.sessions(agent="desk", limit=1)] == ["s2"]
    assert [each["key"] for each in tm.sessions(agent="desk", limit=1_000)] == ["s2", "s1"]
    assert tm.compare("s1", s) == tm.client.sessions.compare("s1", "s2")
    assert tm.compare("s1", s)["items"]
    assert s.url == f"{served.gate.url}/sessions/s2/"


def test_an_agent_resumes_from_a_checkpoint_in_a_new_session(served: Served) -> None:
    tm = served.machine()
    state = {"messages": [{"role": "user", "content": "hi"}], "model": "openai:gpt-4o", "mood": "good"}
    with tm.session("Long", key="long", agent="desk") as s:
        s.checkpoint("early", state)
        s.record("agent", "something else")
    resumed = tm.resume_and_continue("long", "early", "And now?", key="branch")
    with resumed.session as branch:
        branch.record("agent", "Now this.")
    assert resumed.messages == [*state["messages"], {"role": "user", "content": "And now?"}]
    assert (resumed.state["model"], resumed.state["more"]) == ("openai:gpt-4o", {"mood": "good"})
    found = Session.objects.get(key="branch")
    assert (found.parent and found.parent.key, found.parent_sequence, found.agent) == ("long", 1, "desk")
    assert served.outputs("branch") == ["And now?", "Now this."]
    last = tm.resume(s)
    last.session.end()
    assert last.messages == state["messages"]
    with pytest.raises(Refused, match="checkpoint"):
        tm.resume("long", "nowhere")


def test_undelivered_actions_are_replayed_too(served: Served, worker: None) -> None:
    tm = served.machine()
    with tm.session("Open", key="open", end=False, collection="handbook") as s:
        s.put("Some text.")
        s.find("text")
        s.record("user", "x")
        running = tm.replay(s)
    running.cancel()
    assert running.wait().status in {"done", "cancelled"}


def test_a_transcript_contains_all_or_chosen_turns_just_recorded(served: Served) -> None:
    with served.machine() as tm, tm.session("Story", key="story") as session:
        session.record("user", "It fails.", "error")
        session.record("agent", "I guess.", "hypothesis")
        session.record("agent", "Close it.", "solution")
        assert [each["output"] for each in tm.transcript(session)["items"]] == [
            "It fails.",
            "I guess.",
            "Close it.",
        ]
        chosen = tm.transcript(session, significance=["decision", "solution"], form="messages")
        assert chosen["messages"] == [
            {"role": "user", "content": "[2 turns left out]"},
            {"role": "assistant", "content": "Close it."},
        ]
        assert "[3] agent, solution: Close it." in tm.transcript_text("story", min_importance=0.9)
        for role in ("assistant", ["assistant", "model"], "agent, assistant"):
            assert tm.transcript(session, role=role)["items"] == tm.transcript(session, role="agent")["items"]
        assert tm.transcript(session, role="user, assistant")["turns"]["kept"] == 3


def test_significance_is_set_proposed_and_used_for_compression(served: Served) -> None:
    with served.machine() as tm:
        with tm.session("Story", key="story") as session:
            session.record("user", "It fails.", "error")
            session.record("agent", "The root cause is the pool.")
            session.record("agent", "Close it.", "solution")
        (proposed,) = tm.proposals(session)
        assert (proposed["sequence"], proposed["rule"]) == (2, "root_cause")
        assert tm.weigh(session, 2, significance=proposed["significance"])["importance"] == 0.97
        seen = tm.compress(session, preview=True)
        assert (seen["compressed"], seen["kept"]["turns"], seen["falls"]["turns"]) == (False, 2, 1)
        assert tm.compress(session)["compressed"] is True
        assert [each["sequence"] for each in tm.transcript(session, min_importance=0.5)["items"]] == [2, 3]
        assert tm.undo_compression(session)["compressed"] is False
