"""The verdict on what a model did, compared with what was recorded."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Text, ToolCall
from timemachine.replay.runs.pure.actions import action_verdict, is_same_action, pairing


def call(name: str = "read", /, *, id_: str = "a", raw: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=None if raw is not None else arguments, raw=raw)


def answer(*calls: ToolCall, text: str = "I look.") -> Answer:
    return Answer(parts=(*([Text(text)] if text else []), *calls))


@pytest.mark.parametrize(
    ("recorded", "new", "verdict"),
    [
        (answer(call(path="x")), answer(call(path="x", id_="b")), "identical"),
        (answer(call(path="x")), answer(call(path="x"), text="Looking."), "same_action"),
        (answer(call(a=1, b=[2.0])), answer(call(b=[2], a=1.0), text="Looking."), "same_action"),
        (answer(call(path="x"), call("list")), answer(call("list"), call(path="x")), "identical"),
        (answer(call(path="x")), answer(call(path="y")), "other_arguments"),
        (answer(call(path="x")), answer(call("write", path="x")), "other_tool"),
        (answer(call(path="x")), answer(call(path="x"), call("list")), "other_tool"),
        (answer(call(path="x")), answer(text="It says x."), "answers_instead"),
        (answer(text="It says x."), answer(call(path="x")), "calls_instead"),
        (answer(call(path="x")), answer(text="I cannot help with that."), "refused"),
        (answer(text="I cannot help with that."), answer(call(path="x")), "newly_answered"),
        (answer(call(path="x"), text="I cannot help with that."), answer(call(path="x")), "same_action"),
        (answer(text="Three."), answer(text="Three."), "identical"),
        (answer(text="It is 3."), answer(text="It is 4."), "numbers_differ"),
        (answer(call(raw="{x")), answer(call(raw="{x")), "identical"),
        (answer(call(raw="{x")), answer(call(raw="{y")), "other_arguments"),
    ],
)
def test_the_first_verdict_that_applies(recorded: Answer, new: Answer, verdict: str) -> None:
    assert action_verdict(recorded, new).name == verdict
    calls = bool(recorded.calls)
    assert is_same_action(recorded, new) is (calls and verdict in {"identical", "same_action"})


def test_a_refusal_that_the_provider_reports_needs_no_words() -> None:
    assert action_verdict(answer(call(path="x")), answer(text="Hm."), (False, True)).name == "refused"


def test_the_evidence_of_other_arguments_names_each_place_with_both_values() -> None:
    recorded = answer(call(path="x", lines=[1, 2], old=True), call("list"))
    new = answer(call(path="y", lines=[1, 3], new={"a": 1}), call("list"), text="Looking.")
    found = action_verdict(recorded, new)
    assert found.evidence == {
        "calls": 1,
        "text": "reworded",
        "differing": [
            {
                "tool": "read",
                "paths": [
                    {"path": "/path", "change": "changed", "recorded": "x", "new": "y"},
                    {"path": "/lines/1", "change": "changed", "recorded": 2, "new": 3},
                    {"path": "/old", "change": "removed", "recorded": True, "new": None},
                    {"path": "/new", "change": "added", "recorded": None, "new": {"a": 1}},
                ],
            }
        ],
    }


def test_long_evidence_is_cut_and_counted() -> None:
    recorded = answer(call(text="x" * 2_000, values=list(range(60))))
    new = answer(call(text={"a": "y" * 2_000}, values=[-1] * 60))
    (differing,) = action_verdict(recorded, new).evidence["differing"]
    assert (len(differing["paths"]), differing["paths_count"]) == (50, 61)
    first = differing["paths"][0]
    assert (len(first["recorded"]), first["recorded"][-1]) == (1_001, "…")
    assert len(first["new"]) == 1_001


def test_the_evidence_of_another_tool_names_the_tools() -> None:
    found = action_verdict(answer(call(), call("list")), answer(call(), call("write"), call("run")))
    assert found.evidence == {
        "only_recorded": ["list"],
        "only_new": ["write", "run"],
        "calls": 1,
        "text": "identical",
    }


@pytest.mark.parametrize("texts", [("", "I look."), ("I look.", ""), ("", "")])
def test_words_that_only_one_answer_has_are_not_compared(texts: tuple[str, str]) -> None:
    recorded, new = (answer(call(path=path), text=text) for path, text in zip("xy", texts, strict=True))
    assert "text" not in action_verdict(recorded, new).evidence


def test_equal_calls_are_paired_before_those_of_the_same_tool() -> None:
    pairs = pairing([call(path="x"), call(path="y")], [call(path="y"), call(path="z")])
    assert [(before.arguments, after.arguments) for before, after in pairs.equal] == [
        ({"path": "y"}, {"path": "y"})
    ]
    assert [(before.arguments, after.arguments) for before, after in pairs.differing] == [
        ({"path": "x"}, {"path": "z"})
    ]
