"""What steps recorded, as parts of messages."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import Media, Part, Text, Thinking, ToolCall
from timemachine.recording.model_calls.pure.values import answer_parts, content_parts, messages_of

TEXT = (Text("Yes."),)
CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}}


@pytest.mark.parametrize(
    ("recorded", "parts"),
    [
        (None, ()),
        ("", ()),
        ("Yes.", TEXT),
        ({"content": "Yes."}, TEXT),
        ({"message": "Yes.", "tool_calls": None}, TEXT),
        ({"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}, TEXT),
        ([{"role": "assistant", "content": "Yes."}], TEXT),
        ({"response_id": "r"}, ()),
        ({"content": None, "tool_calls": [CALL]}, (ToolCall(id="a", name="read", arguments={"path": "x"}),)),
        (
            {"content": [{"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"path": "x"}'}]},
            (ToolCall(id="a", name="read", arguments={"path": "x"}),),
        ),
    ],
)  # fmt: skip
def test_the_parts_of_an_answer(recorded: Any, parts: tuple[Part, ...]) -> None:
    found = answer_parts(recorded)
    assert tuple(type(part) for part in found) == tuple(type(part) for part in parts)
    assert [getattr(part, "text", None) for part in found] == [getattr(part, "text", None) for part in parts]
    calls = [(part.id, part.name, part.arguments) for part in found if isinstance(part, ToolCall)]
    assert calls == [(part.id, part.name, part.arguments) for part in parts if isinstance(part, ToolCall)]


def test_an_answer_keeps_signed_thinking() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    (part, _) = answer_parts({"content": [thought, {"type": "text", "text": "Yes."}]})
    assert isinstance(part, Thinking)
    assert part.signature == "s"


@pytest.mark.parametrize(
    ("recorded", "parts"),
    [
        (None, ()),
        ("Yes.", TEXT),
        ([{"type": "text", "text": "Yes."}], TEXT),
        ([{"type": "text", "content": "Yes."}], TEXT),
        ({"text": "Yes."}, TEXT),
        ({"exit": 0, "text": "Yes."}, (Text('{"exit":0,"text":"Yes."}'),)),
        ([1, 2], (Text("[1,2]"),)),
        (7, (Text("7"),)),
    ],
)
def test_the_parts_of_content(recorded: Any, parts: tuple[Part, ...]) -> None:
    assert content_parts(recorded) == parts


def test_an_image_in_content_stays_one() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    (part,) = content_parts([image])
    assert isinstance(part, Media)
    assert (part.kind, part.media_type, part.data) == ("image", "image/png", "aGk=")


def test_a_value_that_is_no_list_of_messages_has_none() -> None:
    assert messages_of([3]) == ()
