"""Which recorded result answers a tool call of a continued run."""

from typing import Any

from timemachine.llm.pure.requests.neutral import Text, ToolCall, ToolResult
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall
from timemachine.replay.continuation.pure.answering import Record, are_open_too, unanswered


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"new {name}", name=name, arguments=arguments)


def recorded(sequence: int, made: ToolCall, *, is_aside: bool = False) -> AnsweredCall:
    result = ToolResult(call_id=made.id, parts=(Text(f"result {sequence}"),))
    return AnsweredCall(
        call=made, result=result, called_in=sequence - 1, sequence=sequence, is_aside=is_aside
    )


def step(found: AnsweredCall | None) -> int | None:
    return None if found is None else found.sequence


def test_equal_arguments_are_equal_however_they_are_written() -> None:
    record = Record([recorded(2, call("read", path="a", lines=[1, 2.0]))], after=1)
    assert step(record.answer(call("read", lines=[1.0, 2], path="a"))) == 2


def test_equal_calls_get_the_results_in_their_order_each_once() -> None:
    record = Record([recorded(4, call("now")), recorded(2, call("now"))][::-1], after=1)
    assert [step(record.answer(call("now"))) for _ in range(3)] == [2, 4, None]


def test_only_results_after_the_call_count() -> None:
    record = Record([recorded(2, call("now")), recorded(5, call("now"))], after=3)
    assert record.remaining == 1
    assert [step(record.answer(call("now"))) for _ in range(2)] == [5, None]
    assert record.remaining == 0


def test_the_results_of_a_part_of_the_recording_are_counted() -> None:
    made = [call("read"), call("write")]
    record = Record(
        [recorded(3, made[0]), recorded(6, made[1]), recorded(2, call("now"), is_aside=True)], after=1
    )
    assert [record.remaining_between(*each) for each in ((1, 3), (3, 9), (1, 9), (6, 9))] == [1, 1, 2, 0]
    record.answer(made[0])
    assert (record.remaining_between(1, 3), record.has_used_after(3)) == (0, False)
    record.answer(made[1])
    assert record.has_used_after(3)


def test_a_repeatable_tool_gives_its_latest_result_again() -> None:
    record = Record(
        [recorded(2, call("read")), recorded(5, call("read"))], after=3, repeatable=["read", "list"]
    )
    assert [step(record.answer(call("read"))) for _ in range(3)] == [5, 5, 5]
    assert record.answer(call("list")) is None


def test_results_of_the_same_conversation_come_first() -> None:
    record = Record([recorded(2, call("now"), is_aside=True), recorded(4, call("now"))], after=1)
    assert record.remaining == 1
    assert [step(record.answer(call("now"))) for _ in range(2)] == [4, 2]


def test_the_nearest_call_has_the_fewest_differences() -> None:
    record = Record(
        [
            recorded(2, call("read", path="a", lines=1)),
            recorded(3, call("read", path="b", lines=2)),
            recorded(4, call("write", path="c", lines=2)),
        ],
        after=1,
    )
    nearest = record.nearest(call("read", path="c", lines=2))
    assert nearest is not None
    assert nearest.recorded.sequence == 3
    assert unanswered(call("read", path="c", lines=2), nearest) == {
        "call_id": "new read",
        "tool": "read",
        "arguments": '{"lines":2,"path":"c"}',
        "nearest": {"step": 2, "tool": "read", "arguments": '{"lines":2,"path":"b"}', "paths": ["/path"]},
    }


def test_a_tool_that_was_not_called_has_no_nearest_call() -> None:
    record = Record([recorded(2, call("read"))], after=1)
    assert unanswered(call("write"), record.nearest(call("write")))["nearest"] is None


def test_arguments_that_json_does_not_have_are_answered_by_nothing() -> None:
    odd = call("read", path=float("nan"))
    record = Record([recorded(2, odd)], after=1)
    assert record.answer(odd) is None
    assert record.nearest(odd) is None
    assert unanswered(odd, None)["arguments"] is None


def test_long_arguments_are_cut_in_what_is_stored() -> None:
    stored = unanswered(call("read", path="a" * 2_000), None)["arguments"]
    assert (len(stored), stored[-1]) == (1_001, "…")


def test_calls_that_the_recording_left_open_are_recognised() -> None:
    open_ = [call("finish", state="ok"), call("other")]
    assert are_open_too([call("finish", state="ok")], open_)
    assert not are_open_too([call("finish", state="bad")], open_)
    assert not are_open_too([], open_)
