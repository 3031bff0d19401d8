"""The conversation before a model call, rebuilt from the steps before it."""

from collections.abc import Sequence
from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import Message, Text, ToolCall, ToolResult
from timemachine.recording.model_calls.pure.conversation import (
    Conversation,
    RecordedStep,
    conversations,
)
from timemachine.recording.model_calls.pure.followed import what_followed
from timemachine.recording.sessions.pure.vocabulary import COMPACTION, IN_TEXT, SENT, SETTINGS


def step(sequence: int, kind: str, **others: Any) -> RecordedStep:
    return RecordedStep(sequence=sequence, kind=kind, **others)


def user(sequence: int, text: str, **others: Any) -> RecordedStep:
    return step(sequence, "message", role="user", output=text, **others)


def before(steps: Sequence[RecordedStep], call: int) -> Conversation:
    return dict(conversations(steps, {call}))[call]


def brief(messages: Sequence[Message]) -> list[tuple[str, list[str]]]:
    return [(message.role, [_brief(part) for part in message.parts]) for message in messages]


def _brief(part: Any) -> str:
    match part:
        case Text():
            return part.text
        case ToolCall():
            return f"{part.name}({part.id})"
        case ToolResult():
            return f"{part.call_id}: {''.join(_brief(each) for each in part.parts)}"
    return type(part).__name__


def test_a_call_has_what_was_said_before_it_and_nothing_after() -> None:
    steps = [
        step(1, "message", role="system", output="Be brief."),
        user(2, "How many?"),
        step(3, "llm_call", output="Three."),
        user(4, "Sure?"),
        step(5, "llm_call", output="Yes."),
        user(6, "Thanks."),
    ]
    found = before(steps, 5)
    assert brief(found.messages) == [
        ("system", ["Be brief."]),
        ("user", ["How many?"]),
        ("assistant", ["Three."]),
        ("user", ["Sure?"]),
    ]
    assert found.steps == (1, 2, 3, 4)


def test_a_command_in_the_text_of_an_answer_is_no_call_and_its_result_comes_from_the_user() -> None:
    steps = [
        user(1, "Look."),
        step(2, "llm_call", output={"content": "I list.\n```bash\nls\n```"}),
        step(3, "message", role="agent", output="I list.", parent=2),
        step(4, "tool_call", tool="bash", parent=2, tags=(IN_TEXT,), input="ls"),
        step(5, "tool_result", tool="bash", parent=4, output="a", input={SENT: "<output>a</output>"}),
        step(6, "tool_call", tool="bash", tags=(IN_TEXT,), input="pwd"),
        step(7, "tool_result", tool="bash", parent=6, output="/"),
        step(8, "llm_call", output="Done."),
    ]
    assert brief(before(steps, 8).messages) == [
        ("user", ["Look."]),
        ("assistant", ["I list.\n```bash\nls\n```"]),
        ("user", ["<output>a</output>"]),
        ("user", ["/"]),
    ]


def test_a_result_has_the_text_that_the_model_was_given() -> None:
    steps = [
        user(1, "Look."),
        step(
            2, "llm_call", output={"tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": "{}"}}]}
        ),
        step(3, "tool_call", tool="ls", call_id="a", parent=2, input={}),
        step(4, "tool_result", call_id="a", parent=3, output="a", input={SENT: "a\n$"}),
        step(5, "llm_call", output="Done."),
    ]
    assert brief(before(steps, 5).messages)[-1] == ("tool", ["a: a\n$"])


def test_a_result_follows_the_answer_with_its_call_even_if_it_arrived_later() -> None:
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        {"type": "tool_use", "id": "b", "name": "list", "input": {}},
    ]
    steps = [
        user(1, "Look."),
        step(2, "llm_call", output={"content": blocks, "stop_reason": "tool_use"}),
        step(3, "tool_call", tool="read", call_id="a", parent=2, input={"path": "x"}),
        step(4, "tool_result", tool="read", call_id="a", parent=3, output="text of x"),
        user(5, "And hurry."),
        step(6, "tool_call", tool="list", call_id="b", parent=2, input={}),
        step(7, "tool_result", tool="list", call_id="b", parent=6, output="x y", failed=True),
        step(8, "llm_call", output="Done."),
    ]
    found = before(steps, 8)
    assert brief(found.messages) == [
        ("user", ["Look."]),
        ("assistant", ["I look.", "read(a)", "list(b)"]),
        ("tool", ["a: text of x"]),
        ("tool", ["b: x y"]),
        ("user", ["And hurry."]),
    ]
    assert [part.is_error for message in found.messages for part in message.results] == [False, True]
    assert found.steps == (1, 2, 3, 4, 5, 6, 7)


def test_an_answer_without_its_words_is_made_of_the_steps_inside_it() -> None:
    steps = [
        user(1, "Go."),
        step(2, "llm_call"),
        step(3, "message", role="agent", name="thinking", parent=2, output="hm"),
        step(4, "message", role="agent", parent=2, output="I will."),
        step(5, "tool_call", tool="run", parent=2, input={"command": "ls"}),
        step(6, "tool_result", parent=5, output="a b"),
        step(7, "llm_call"),
    ]
    assert brief(before(steps, 7).messages) == [
        ("user", ["Go."]),
        ("assistant", ["I will.", "run(step_5)"]),
        ("tool", ["step_5: a b"]),
    ]


def test_calls_beside_the_answer_join_it_and_keep_their_own_results() -> None:
    steps = [
        user(1, "Go."),
        step(2, "llm_call", output="I will."),
        step(3, "tool_call", tool="run", call_id="r", input={}, output="done"),
        step(4, "tool_call", tool="run", call_id="s", input={}, failed=True),
        step(5, "llm_call"),
    ]
    assert brief(before(steps, 5).messages) == [
        ("user", ["Go."]),
        ("assistant", ["I will.", "run(r)"]),
        ("tool", ["r: done"]),
        ("assistant", ["run(s)"]),
        ("tool", ["s: "]),
    ]


def test_a_compaction_replaces_what_was_before_it() -> None:
    steps = [
        user(1, "A long story."),
        step(2, "llm_call", output="Indeed."),
        user(3, "In short: a story.", tags=[COMPACTION]),
        step(4, "llm_call", output="Yes."),
        step(5, "event", tags=[COMPACTION], output=[{"role": "user", "content": "Shorter."}]),
        step(6, "llm_call"),
    ]
    assert brief(before(steps, 4).messages) == [("user", ["In short: a story."])]
    assert brief(before(steps, 6).messages) == [("user", ["Shorter."])]


def test_a_sub_agent_has_a_conversation_of_its_own() -> None:
    steps = [
        user(1, "Ask the expert."),
        step(2, "llm_call"),
        step(3, "tool_call", tool="task", call_id="t", parent=2, input={"prompt": "Why?"}),
        step(4, "message", role="agent", parent=3, output="Why?"),
        step(5, "llm_call", parent=3, output="Because."),
        step(6, "message", role="agent", parent=5, output="Because."),
        step(7, "tool_result", call_id="t", parent=3, output="Because."),
        step(8, "llm_call"),
    ]
    assert brief(before(steps, 5).messages) == [("user", ["Why?"])]
    assert brief(before(steps, 8).messages) == [
        ("user", ["Ask the expert."]),
        ("assistant", ["task(t)"]),
        ("tool", ["t: Because."]),
    ]


def test_sub_agents_whose_call_is_unknown_are_told_apart_by_their_names() -> None:
    def of(sequence: int, kind: str, agent: str, **others: Any) -> RecordedStep:
        return step(sequence, kind, agent=agent, tags=["sidechain"], **others)

    steps = [
        user(1, "Go."),
        of(2, "message", "a", role="agent", output="Why?"),
        of(3, "message", "b", role="agent", output="How?"),
        of(4, "llm_call", "a"),
        of(5, "llm_call", "b"),
        step(6, "llm_call"),
    ]
    found = dict(conversations(steps, {4, 5, 6}))
    assert [brief(found[call].messages) for call in (4, 5, 6)] == [
        [("user", ["Why?"])],
        [("user", ["How?"])],
        [("user", ["Go."])],
    ]


def test_turns_that_the_user_went_back_behind_are_left_out_unless_the_call_is_one_of_them() -> None:
    steps = [
        user(1, "Red?", tags=["rewound"]),
        step(2, "llm_call", output="Red.", tags=["rewound"]),
        user(3, "More?", tags=["rewound"]),
        step(4, "llm_call", tags=["rewound"]),
        user(5, "Blue?"),
        step(6, "llm_call"),
    ]
    assert brief(before(steps, 6).messages) == [("user", ["Blue?"])]
    assert brief(before(steps, 4).messages)[0] == ("user", ["Red?"])


def test_what_the_model_never_saw_is_left_out() -> None:
    steps = [
        user(1, "Go."),
        step(2, "message", role="tool", output="a log line", is_internal=True),
        step(3, "llm_call", output="broken", failed=True),
        step(4, "message", role="agent", name="thinking", output="hm"),
        step(5, "event", output="a turn ended"),
        step(6, "tool_result", call_id="nobody", output="lost"),
        step(7, "message", role="user", output=None),
        step(8, "find", input="query", output="passages"),
        step(9, "llm_call"),
    ]
    assert brief(before(steps, 9).messages) == [("user", ["Go."])]


@pytest.mark.parametrize(
    ("beginning", "prompt"),
    [
        ({"base_instructions": {"text": "Be brief."}}, ["Be brief."]),
        ({"instructions": "Be brief."}, ["Be brief."]),
        ({"instructions": None}, None),
    ],
)
def test_the_event_that_begins_a_session_of_codex_holds_its_system_prompt(
    beginning: dict[str, Any], prompt: list[str] | None
) -> None:
    steps = [step(1, "event", name="session_meta", output=beginning), user(2, "Go."), step(3, "llm_call")]
    system = [] if prompt is None else [("system", prompt)]
    assert brief(before(steps, 3).messages) == [*system, ("user", ["Go."])]


def test_a_compaction_keeps_the_system_prompt() -> None:
    steps = [
        step(1, "message", role="system", output="Be brief."),
        user(2, "A long story."),
        step(3, "event", tags=[COMPACTION], output={"message": "In short."}),
        step(4, "llm_call"),
    ]
    assert brief(before(steps, 4).messages) == [("system", ["Be brief."]), ("user", ["In short."])]


def test_a_result_that_is_recorded_twice_is_given_once() -> None:
    steps = [
        step(1, "tool_call", tool="run", call_id="a", input={}),
        step(2, "tool_result", call_id="a", parent=1, output="first"),
        step(3, "tool_result", call_id="a", parent=1, output="again"),
        step(4, "llm_call"),
    ]
    assert brief(before(steps, 4).messages)[1:] == [("tool", ["a: first"])]


def test_an_ask_is_a_question_and_its_answer() -> None:
    steps = [
        step(1, "ask", input="How many?", output="Three."),
        step(2, "ask", input="Why?", output={"text": "Bec"}, failed=True),
        step(3, "llm_call"),
    ]
    assert brief(before(steps, 3).messages) == [
        ("user", ["How many?"]),
        ("assistant", ["Three."]),
        ("user", ["Why?"]),
    ]


def test_steps_that_contain_each_other_do_not_end_in_a_circle() -> None:
    steps = [
        step(1, "event", parent=2),
        step(2, "event", parent=1),
        user(3, "Go.", parent=2),
        step(4, "llm_call", parent=99),
    ]
    assert brief(before(steps, 4).messages) == [("user", ["Go."])]


def test_what_was_stated_for_the_whole_session_is_part_of_every_later_conversation() -> None:
    tool = {"type": "function", "function": {"name": "read"}}
    steps = [
        step(1, "event", tags=(SETTINGS,), output={"system_prompt": "Be brief.", "tools": [tool]}),
        user(2, "Look."),
        step(3, "llm_call", output="Done."),
        step(4, "message", role="system", tags=(SETTINGS,), output="Be kind.", input={"tools": []}),
        user(5, "And now?", tags=(COMPACTION,)),
        step(6, "event", tags=(SETTINGS,), output="Nothing."),
        step(7, "llm_call", output="Done."),
    ]
    first, last = before(steps, 3), before(steps, 7)
    assert brief(first.messages) == [("system", ["Be brief."]), ("user", ["Look."])]
    assert (first.tools, first.steps, first.compacted) == ([tool], (1, 2), False)
    assert brief(last.messages) == [("system", ["Be kind."]), ("user", ["And now?"])]
    assert (last.tools, last.steps, last.compacted) == ([tool], (1, 4, 5), True)


def test_the_tools_that_codex_states_at_its_beginning_are_those_of_the_session() -> None:
    tool = {"name": "look", "inputSchema": {"type": "object"}}
    steps = [step(1, "event", name="session_meta", output={"dynamic_tools": [tool]}), step(2, "llm_call")]
    assert before(steps, 2) == Conversation(messages=(), steps=(1,), tools=[tool])


def test_outer_steps_only_show_what_is_inside_what() -> None:
    steps = [
        step(1, "llm_call", output="Earlier."),
        step(2, "tool_call", tool="agent", call_id="a", parent=1),
        user(3, "Look around.", parent=2),
        user(4, "Go on."),
        step(5, "llm_call", parent=2),
    ]
    found = dict(conversations(steps, {5}, {1, 2}))[5]
    assert brief(found.messages) == [("user", ["Look around."])]


def calling(call_id: str, tool: str) -> dict[str, Any]:
    return {"content": [{"type": "tool_use", "id": call_id, "name": tool, "input": {}}]}


def test_what_followed_has_each_call_with_its_result_and_the_calls_of_the_same_conversation() -> None:
    steps = [
        user(1, "Go."),
        step(2, "llm_call", output=calling("a", "read")),
        step(3, "tool_call", tool="read", call_id="a", input={}, output="one"),
        user(4, "Summary so far.", tags=(COMPACTION,)),
        step(5, "llm_call", output=calling("b", "task")),
        step(6, "tool_call", tool="task", call_id="b", input={}),
        step(7, "llm_call", parent=6, output=calling("c", "read")),
        step(8, "tool_result", call_id="c", parent=7, output="inside"),
        step(9, "tool_result", call_id="b", parent=6, output="done"),
        step(10, "llm_call", output="The end."),
    ]
    found = what_followed(steps, 2)
    assert [(each.call.name, each.sequence, each.is_aside) for each in found.answered] == [
        ("read", 3, False),
        ("read", 8, True),
        ("task", 9, False),
    ]
    assert found.calls == (2, 5, 10)
    assert what_followed(steps, 5).calls == (5, 10)
    assert found.unanswered == ()
    assert [each.id for each in what_followed(steps[:2], 2).unanswered] == ["a"]
    assert what_followed(steps[:2], 9).unanswered == ()
    answered_in_words = [*steps[:2], step(3, "llm_call", output="The end.")]
    assert what_followed(answered_in_words, 2).unanswered == ()


def test_what_the_user_wrote_between_two_calls_followed_with_the_answer_before_it() -> None:
    steps = [
        user(1, "Go."),
        step(2, "llm_call", output=calling("a", "read")),
        step(3, "tool_call", tool="read", call_id="a", input={}, output="one"),
        user(4, "Stop."),
        user(5, ""),
        user(6, "Read b."),
        step(7, "llm_call", output="Which one?"),
        step(8, "message", role="agent", output="Which one?", parent=7),
        user(9, "Summary so far.", tags=(COMPACTION,)),
        user(10, "Left.", tags=("rewound",)),
        user(11, "An event.", is_internal=True),
        step(12, "message", role="system", output="Be brief."),
        step(13, "llm_call", output="The end."),
        user(14, "Nobody answered this."),
    ]
    (turn,) = what_followed(steps, 2).user_turns
    assert (turn.after, turn.before, turn.step, turn.interrupts) == (2, 7, 4, True)
    assert [(each.sequence, each.parts) for each in turn.messages] == [
        (4, (Text("Stop."),)),
        (6, (Text("Read b."),)),
    ]
    (later,) = what_followed([*steps[:8], user(9, "b."), *steps[12:]], 7).user_turns
    assert (later.step, later.answer, later.interrupts) == (9, (Text("Which one?"),), False)
