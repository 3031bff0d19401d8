"""The request of a model call, as it was recorded or put together, and what is absent."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import Message, Parameters, Text, Thinking, ToolCall
from timemachine.recording.model_calls.pure.conversation import Conversation
from timemachine.recording.model_calls.pure.requests import (
    PARAMETERS,
    SYSTEM_PROMPT,
    TOOLS,
    Circumstances,
    FrozenRequest,
    continued,
    rebuilt,
    recorded,
    response_id,
)

TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
USER = Message(role="user", parts=(Text("Hello"),))
SYSTEM = Message(role="system", parts=(Text("Be brief."),))


def of(value: Any, **about: Any) -> FrozenRequest:
    found = recorded(value, Circumstances(**about))
    assert found is not None
    return found


def put_together(*messages: Message, **about: Any) -> FrozenRequest:
    conversation = Conversation(messages=messages, steps=(-1, 2, 3)[: len(messages)])
    return rebuilt(conversation, Circumstances(**about))


def test_a_recorded_list_of_messages_is_a_request() -> None:
    found = of(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        model="openai:gpt-4o",
        parameters={"temperature": 0.5, "finish_reasons": ["stop"], "stop_sequences": ["END"]},
    )
    assert found.request.system == (Text("Be brief."),)
    assert found.request.messages == (USER,)
    assert found.request.parameters == Parameters(temperature=0.5, stop=("END",))
    assert (found.model, found.verdict, found.absent) == ("openai:gpt-4o", "verified", ())


def test_the_whole_body_of_a_request_is_read_by_its_api() -> None:
    anthropic = {"system": "Be brief.", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    chat = {"messages": [{"role": "user", "content": "Hello"}], "tools": [TOOL], "model": "gpt-4o"}
    responses = {"input": "Hello", "instructions": "Be brief."}
    assert of(anthropic).request.parameters.max_tokens == 9
    assert [tool.name for tool in of(chat).request.tools if hasattr(tool, "name")] == ["read"]
    assert of(chat).request.model is None
    assert of(responses).request.system == (Text("Be brief."),)
    assert all(of(each).request.messages == (USER,) for each in (anthropic, chat, responses))


def test_parameters_and_tools_that_were_recorded_beside_the_body_are_part_of_it() -> None:
    beside = {
        "tools": [TOOL],
        "max_tokens": 7,
        "system_instructions": [{"type": "text", "content": "Be brief."}],
    }
    found = of({"messages": [{"role": "user", "content": "Hello"}]}, parameters=beside).request
    assert (len(found.tools), found.parameters.max_tokens, found.system) == (1, 7, (Text("Be brief."),))


def test_a_body_that_no_api_takes_is_read_as_messages() -> None:
    found = of({"messages": [{"type": "human", "content": "Hello"}]}).request
    assert found.messages == (USER,)


def test_parameters_that_no_api_takes_do_not_hide_the_messages() -> None:
    odd = {"temperature": "warm", "tools": "all of them", "top_p": 1}
    assert of([{"role": "user", "content": "Hello"}], parameters=odd).request.messages == (USER,)


def test_tools_are_absent_if_the_model_called_one_that_was_not_recorded() -> None:
    said = [{"role": "user", "content": "Hello"}]
    assert of(said, called=("read",)).absent == (TOOLS,)
    assert of(said, called=("read",), parameters={"tools": [TOOL]}).absent == ()
    assert of(said).absent == ()


def test_an_input_without_messages_is_no_request() -> None:
    assert recorded({"operation": "compile"}, Circumstances()) is None
    assert recorded([], Circumstances()) is None


def test_a_recorded_request_whose_bytes_changed_is_altered() -> None:
    assert of("Hello", altered=(3,)).verdict == "altered"


def test_a_request_that_was_put_together_names_what_is_absent() -> None:
    found = put_together(USER)
    assert (found.verdict, found.absent) == ("reconstructed", (SYSTEM_PROMPT, TOOLS, PARAMETERS))
    complete = put_together(SYSTEM, USER, parameters={"tools": [TOOL], "seed": 7})
    assert complete.absent == ()
    assert (complete.steps, complete.inherited) == ((2,), 1)


def test_thinking_that_nobody_signed_is_left_out_and_named() -> None:
    thought = Message(role="assistant", parts=(Thinking(provider="anthropic", text="hm"), Text("Yes.")))
    signed = Message(role="assistant", parts=(Thinking(provider="anthropic", text="hm", signature="s"),))
    found = put_together(USER, thought, signed)
    assert found.request.messages[1:] == (Message(role="assistant", parts=(Text("Yes."),)), signed)
    assert found.absent[0] == "thinking"


@pytest.mark.parametrize(
    ("about", "verdict"),
    [({"altered": (2,)}, "altered"), ({"altered": (9,)}, "reconstructed"), ({"deleted": (2,)}, "missing")],
)
def test_what_happened_to_the_steps_happened_to_the_request(about: dict[str, Any], verdict: str) -> None:
    assert put_together(USER, USER, **about).verdict == verdict


def test_a_call_with_nothing_before_it_has_no_request() -> None:
    assert put_together().verdict == "not_recorded"


def test_what_an_agent_states_for_its_calls_is_in_a_recorded_request_without_it() -> None:
    stated = {"tools": [TOOL], "system_instructions": "Be kind."}
    found = of([{"role": "user", "content": "Hello"}], called=("read",), stated=stated, stated_in=(7,))
    assert (found.absent, found.steps, len(found.request.tools)) == ((), (7,), 1)
    assert found.request.system == (Text("Be kind."),)
    own = of(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        parameters={"tools": [TOOL]},
        stated=stated,
        stated_in=(7,),
    )
    assert (own.request.system, own.steps) == ((Text("Be brief."),), ())


def test_tools_that_were_called_but_not_defined_are_named() -> None:
    made = Message(role="assistant", parts=(ToolCall(id="a", name="write", arguments={}),))
    conversation = Conversation(messages=(SYSTEM, USER, made), steps=(1, 2, 3), tools=[TOOL])
    found = rebuilt(conversation, Circumstances(called=("read", "ask")))
    assert (len(found.request.tools), found.absent) == (1, ("tool definitions of ask, write", PARAMETERS))
    with_own = rebuilt(
        conversation, Circumstances(parameters={"tools": [TOOL], "temperature": 1}, stated={"tools": []})
    )
    assert with_own.absent == ("tool definitions of write",)
    agreed = Conversation(messages=(SYSTEM, USER), steps=(1, 2), tools=[TOOL])
    assert rebuilt(agreed, Circumstances(called=("read",))).absent == (PARAMETERS,)
    names = Conversation(messages=(SYSTEM, USER), steps=(1, 2), tools=["Read", "Write"])
    assert rebuilt(names, Circumstances()).absent == (TOOLS, PARAMETERS)


def test_what_an_agent_states_is_in_a_request_that_was_put_together() -> None:
    stated = {"tools": [TOOL], "system_instructions": "Be kind."}
    found = put_together(USER, stated=stated, stated_in=(9,))
    assert (found.steps, found.inherited, found.absent) == ((9,), 1, (PARAMETERS,))


@pytest.mark.parametrize(
    ("body", "beside", "named"),
    [
        ({"input": "And now?", "previous_response_id": "resp_1"}, {}, "previous_response_id"),
        ({"input": "And now?", "conversation": {"id": "conv_1"}}, {}, "conversation"),
        ({"input": "And now?", "prompt": {"id": "pmpt_1"}}, {}, "prompt"),
        ([{"role": "user", "content": "?"}], {"previous_response_id": "resp_1"}, "previous_response_id"),
    ],
)
def test_a_request_that_continues_what_the_provider_stored_was_not_recorded_whole(
    body: Any, beside: Any, named: str
) -> None:
    found = of(body, parameters=beside)
    assert (found.verdict, found.absent) == ("not_recorded", (f"what the provider stored ({named})",))
    assert len(found.request.messages) == 1
    assert found.continues == ("resp_1" if named == "previous_response_id" else None)
    assert of({"prompt": "Once upon", "conversation": None, "previous_response_id": ""}).verdict == "verified"


def test_a_continued_request_has_the_stored_turns_but_not_their_instructions() -> None:
    first = of({"input": "Hello", "instructions": "Be brief."})
    next_one = of({"input": "And?", "instructions": "Be long.", "previous_response_id": "resp_1"})
    answer = (Text("Hi."),)
    whole = continued(next_one, first, answer, 4)
    assert whole.request.system == (Text("Be long."),)
    assert [(each.role, each.text) for each in whole.request.messages] == [
        ("user", "Hello"),
        ("assistant", "Hi."),
        ("user", "And?"),
    ]
    assert (whole.verdict, whole.absent, whole.steps, whole.continues) == ("reconstructed", (), (4,), None)
    last = of({"input": "Bye", "previous_response_id": "resp_2"})
    assert continued(last, whole, (), 7).request.system == ()
    assert continued(last, whole, (), 7).steps == (4, 7)


def test_a_system_message_in_the_stored_turns_is_that_of_the_continued_request() -> None:
    first = of({"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]})
    last = of({"input": "Bye", "previous_response_id": "resp_1"})
    assert continued(last, first, (), 1).request.system == (Text("Be brief."),)


def test_a_continued_request_is_no_better_recorded_than_what_it_continues() -> None:
    lost = of({"input": "Hello", "previous_response_id": "resp_0"}, called=("read",))
    last = of({"input": "Bye", "previous_response_id": "resp_1"})
    whole = continued(last, lost, (), 3)
    assert (whole.verdict, whole.absent) == (
        "not_recorded",
        ("what the provider stored (previous_response_id)",),
    )
    altered = of({"input": "Bye", "previous_response_id": "resp_1"}, altered=(9,))
    assert continued(altered, of({"input": "Hello"}), (), 3).verdict == "altered"


def test_a_response_has_its_id_in_its_body_or_beside_it() -> None:
    assert response_id({"id": "resp_1", "output": []}) == "resp_1"
    assert response_id({"response_id": "resp_2"}) == "resp_2"
    assert response_id([], None, {"response_id": "resp_3"}) == "resp_3"
    assert response_id("Hi.", {}) is None
