"""Two requests that say the same have the same hash, and others differ in something that has a name."""

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.requests.bodies import arguments, chat_bodies, values
from timemachine.llm.pure.requests import openai_chat
from timemachine.llm.pure.requests.canonical import canonical_arguments, canonical_json, request_sha256
from timemachine.llm.pure.requests.differences import (
    Difference,
    call_differences,
    equal_arguments,
    equal_calls,
    first_difference,
)
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import (
    BuiltInTool,
    Message,
    Parameters,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
)


def calling(text: str, identifier: str = "c1", name: str = "f") -> Request:
    call = {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}
    return openai_chat.read({"messages": [{"role": "assistant", "tool_calls": [call]}]})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [2, 0.5], "c": "é"}',
        '{"b":[2.0,5e-1],"a":1e0,"c":"\\u00e9"}',
        '\n{ "c": "e\\u0301",\n "a": 1.0, "b": [2, 0.5] }',
    ],
)
def test_how_the_arguments_are_written_does_not_matter(text: str) -> None:
    first = calling('{"a":1,"b":[2,0.5],"c":"é"}')
    assert request_sha256(calling(text)) == request_sha256(first)
    assert first_difference(first, calling(text)) is None


def test_the_hash_is_that_of_the_canonical_json() -> None:
    assert request_sha256(Request()) == sha256(canonical_json(Request()).encode()).hexdigest()
    assert canonical_json(Request(parameters=Parameters(temperature=0))) == (
        '{"is":"Request","parameters":{"is":"Parameters","temperature":0}}'
    )


@given(chat_bodies, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(body: Any, random: Any) -> None:
    try:
        request = openai_chat.read(body)
    except RequestError:
        return
    again = openai_chat.read(json.loads(json.dumps(shuffled(body, random))))
    assert canonical_json(again) == canonical_json(request)
    assert first_difference(request, again) is None


def shuffled(value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        names = list(value)
        random.shuffle(names)
        return {name: shuffled(value[name], random) for name in names}
    return [shuffled(each, random) for each in value] if isinstance(value, list) else value


@given(chat_bodies, chat_bodies)
def test_requests_differ_in_words_exactly_if_their_hashes_differ(one: Any, other: Any) -> None:
    try:
        left, right = openai_chat.read(one), openai_chat.read(other)
    except RequestError:
        return
    same = request_sha256(left) == request_sha256(right)
    assert (first_difference(left, right) is None) == same


USER = Message(role="user", parts=(Text("Hello"),))
CALL = ToolCall(id="c1", name="f", arguments={"path": "a/b"})
CALLS = Message(role="assistant", parts=(CALL,))


def with_call(**rest: Any) -> Message:
    return Message(role="assistant", parts=(replace(CALL, **rest),))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (Request(model="a"), Request(), "model: a and none"),
        (Request(), Request(system=(Text("a"),)), "system prompt differs"),
        (Request(messages=(USER,)), Request(messages=(Message(role="user", parts=(Text("Hi"),)),)),
         "message 1 (user): text differs"),
        (Request(messages=(USER,)), Request(messages=(CALLS,)),
         "message 1 (user): the other is a message of the role assistant"),
        (Request(messages=(USER,)), Request(messages=(Message(role="user"),)), "message 1 (user): 1 part and 0"),
        (Request(messages=(USER,)), Request(messages=(replace(USER, name="Ann"),)), "message 1 (user): name differs"),
        (Request(messages=(USER,)), Request(messages=(replace(USER, extra={"openai": {"x": 1}}),)),
         "message 1 (user): a field that only one API supports differs"),
        (Request(messages=(USER,)), Request(messages=(replace(USER, parts=(Refusal("Hello"),)),)),
         "message 1 (user): text and refusal"),
        (Request(messages=(CALLS,)), Request(messages=(with_call(name="g"),)),
         "message 1 (assistant): calls of f and of g"),
        (Request(messages=(CALLS,)), Request(messages=(with_call(arguments={"path": "a/c"}),)),
         "message 1 (assistant): arguments of f differ at /path"),
        (Request(messages=(CALLS,)), Request(messages=(with_call(arguments=None, raw="a"),)),
         "message 1 (assistant): arguments of f differ at the top"),
        (Request(messages=(CALLS,)), Request(messages=(with_call(id="c2"),)),
         "message 1 (assistant): id of the call of f differs"),
        (Request(messages=(CALLS,)), Request(messages=(with_call(extra={"openai": {"x": 1}}),)),
         "message 1 (assistant): call of f differs"),
        (Request(messages=(USER, USER)), Request(messages=(USER,)), "2 messages and 1"),
        (Request(tools=(Tool(name="a"),)), Request(tools=(Tool(name="b"),)), "tool 1: a and b"),
        (Request(tools=(Tool(name="a"),)), Request(tools=(Tool(name="a", strict=False),)), "tool 1: a differs"),
        (Request(tools=(Tool(name="a"),)), Request(tools=(BuiltInTool("anthropic", {"type": "bash"}),)),
         "tool 1: a and bash"),
        (Request(tools=(Tool(name="a"),)), Request(), "1 tool and 0"),
        (Request(tool_choice=ToolChoice(kind="auto")), Request(), "tool choice differs"),
        (Request(parameters=Parameters(temperature=0)), Request(), "parameter temperature differs"),
        (Request(parameters=Parameters(extra={"openai": {"user": "a"}})), Request(), "parameter user differs"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(left: Request, right: Request, words: str) -> None:
    assert first_difference(left, right) == words
    assert request_sha256(left) != request_sha256(right)


def test_the_same_request_has_no_first_difference() -> None:
    extra = {"openai": {"user": "a"}}
    tools = (Tool(name="a"), BuiltInTool("anthropic", {"type": "bash"}))
    request = Request(messages=(USER, CALLS), tools=tools, parameters=Parameters(extra=extra))
    assert first_difference(request, replace(request, model=None)) is None


def test_calls_have_the_same_canonical_arguments_however_they_are_written() -> None:
    assert (
        canonical_arguments(ToolCall(id="c", name="f", arguments={"b": 1.0, "a": "é"}))
        == '{"a":"\\u00e9","b":1}'
    )
    assert canonical_arguments(ToolCall(id="c", name="f", raw="ls")) == '"ls"'


def test_the_order_of_messages_matters() -> None:
    other = Message(role="user", parts=(Text("Bye"),))
    assert first_difference(Request(messages=(USER, other)), Request(messages=(other, USER))) == (
        "message 1 (user): text differs"
    )


def test_arguments_are_compared_by_structure_and_the_places_named_by_pointers() -> None:
    left = {"path": "/a/b.py", "code": "x = 1\n" * 1000, "a/b": [1, {"~": True}], "gone": None}
    right = {"code": "x = 2\n" * 1000, "path": "/a/b.py", "a/b": [1.0, {"~": 1}, 3], "new": 0}
    assert equal_arguments(left, right) == (
        Difference(path="/code", change="changed", left="x = 1\n" * 1000, right="x = 2\n" * 1000),
        Difference(path="/a~1b/1/~0", change="changed", left=True, right=1),
        Difference(path="/a~1b/2", change="added", right=3),
        Difference(path="/gone", change="removed"),
        Difference(path="/new", change="added", right=0),
    )
    assert equal_arguments([1], {"0": 1}) == (
        Difference(path="", change="changed", left=[1], right={"0": 1}),
    )


def test_names_that_only_unicode_tells_apart_are_not_mixed_up() -> None:
    names = {"é": 1, "e\u0301": 2}
    assert equal_arguments(names, {"e\u0301": 2, "é": 1}) == ()
    assert equal_arguments({"é": 1}, {"e\u0301": 1.0}) == ()


def test_calls_are_equal_if_tool_and_arguments_are() -> None:
    assert equal_calls(CALL, ToolCall(id="other", name="f", arguments={"path": "a/b"}))
    assert not equal_calls(CALL, replace(CALL, name="g"))
    raw = ToolCall(id="c", name="f", raw="ls -l", free_text=True)
    assert call_differences(raw, replace(raw, raw="ls")) == (
        Difference(path="", change="changed", left="ls -l", right="ls"),
    )


@given(values)
def test_a_value_equals_itself_however_it_is_written(value: Any) -> None:
    assert equal_arguments(value, json.loads(json.dumps(value, indent=1, sort_keys=True))) == ()


@given(arguments, arguments)
def test_differences_are_empty_exactly_for_equal_arguments(left: Any, right: Any) -> None:
    texts = [canonical_json(calling(json.dumps(each))) for each in (left, right)]
    assert (equal_arguments(left, right) == ()) == (texts[0] == texts[1])


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_numbers_that_json_does_not_have_cannot_be_compared(value: float) -> None:
    with pytest.raises(RequestError, match="too large for JSON"):
        equal_arguments({"a": value}, {})


def test_values_that_are_nested_too_deeply_cannot_be_compared() -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(RequestError, match="nested more than 200 levels"):
        equal_arguments(deep, 1)


def test_a_text_and_the_same_text_as_input_are_the_same_arguments() -> None:
    patch = ToolCall(id="a", name="apply_patch", raw="*** Begin Patch", free_text=True)
    function = ToolCall(id="b", name="apply_patch", arguments={"input": "*** Begin Patch"})
    assert canonical_arguments(patch) == canonical_arguments(function)
    assert equal_calls(patch, function)
    assert equal_calls(function, patch)
    for other in ({"input": "*** End Patch"}, {"input": 1}, {"input": "*** Begin Patch", "cwd": "/"}, {}):
        assert not equal_calls(patch, ToolCall(id="c", name="apply_patch", arguments=other))
