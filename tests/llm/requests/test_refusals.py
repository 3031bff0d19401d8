"""A request that a provider does not accept says why before anything is sent."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import (
    BuiltInTool,
    Media,
    Message,
    Parameters,
    Part,
    Request,
    ResponseFormat,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from timemachine.llm.pure.requests.refusals import refusal, refusals

HELLO = Message(role="user", parts=(Text("Hello"),))
CALL = ToolCall(id="c1", name="search", arguments={"q": 1})
RESULT = Message(role="tool", parts=(ToolResult(call_id="c1", parts=(Text("42"),)),))


def asked(*messages: Message, **rest: Any) -> Request:
    return Request(messages=(HELLO, *messages), **rest)


def called(*calls: ToolCall) -> Message:
    return Message(role="assistant", parts=calls)


def user(*parts: Part) -> Message:
    return Message(role="user", parts=parts)


def image(**rest: Any) -> Media:
    return Media(kind="image", **rest)


def document(**rest: Any) -> Media:
    return Media(kind="document", **rest)


def audio(**rest: Any) -> Media:
    return Media(kind="audio", **rest)


PNG = image(data="aGk=", media_type="image/png")
SOUND_REQUESTS: list[Request] = [
    asked(),
    asked(called(CALL), RESULT),
    asked(
        user(PNG, image(url="https://x.test/a.png")),
        tools=(Tool(name="search", schema={"type": "object"}),),
        tool_choice=ToolChoice(kind="tool", name="search"),
        parameters=Parameters(temperature=1, top_p=0.5, stop=("a",), frequency_penalty=1),
        response_format=ResponseFormat(kind="json_schema", schema={}),
    ),
    asked(tools=(BuiltInTool("openai", {"type": "custom"}),), tool_choice=ToolChoice(kind="tool", name="x")),
    asked(tools=(Tool(name="search"),), tool_choice=ToolChoice(kind="required")),
    asked(tool_choice=ToolChoice(kind="none")),
    asked(user(document(text="plain", media_type="text/plain"))),
    asked(user(document(data="JVBERi0x", media_type="application/pdf"))),
]


@pytest.mark.parametrize("request_", SOUND_REQUESTS)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "my-server"])
def test_a_sound_request_is_accepted(request_: Request, provider: str) -> None:
    assert refusal(request_, provider) is None


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request(), "The request has no messages."),
        (
            asked(parameters=Parameters(temperature=2.5)),
            "The temperature is 2.5 but must be between 0 and 2.",
        ),
        (asked(parameters=Parameters(top_p=1.5)), "`top_p` is 1.5 but must be between 0 and 1."),
        (
            asked(parameters=Parameters(presence_penalty=-3)),
            "`presence_penalty` is -3 but must be between -2 and 2.",
        ),
        (
            asked(parameters=Parameters(stop=("a",) * 5)),
            "The request has 5 stop sequences; the maximum is 4.",
        ),
        (asked(tools=(Tool(name="a"),) * 129), "The request has 129 tools; the maximum is 128."),
        (
            asked(tools=(Tool(name="fs.read"),)),
            "The tool `fs.read` has an invalid name: names have 1 to 64 English letters, digits, underscores and hyphens.",
        ),
        (
            asked(tool_choice=ToolChoice(kind="required")),
            "The request requires a tool call but has no tools.",
        ),
        (
            asked(tools=(Tool(name="a"),), tool_choice=ToolChoice(kind="tool", name="b")),
            "The request requires a call to the tool `b`, which it does not define.",
        ),
        (
            asked(Message(role="assistant", parts=(Text("The answer is"),))),
            "The request ends with the beginning of an answer, which OpenAI models cannot continue.",
        ),
        (asked(called(CALL), HELLO), "The call to `search` (c1) has no result."),
        (asked(RESULT), "A result (c1) does not follow its call."),
        (
            asked(Message(role="tool", parts=(ToolResult(call_id=""),))),
            "A result (without ID) does not follow its call.",
        ),
        (
            asked(parameters=Parameters(extra={"openai_responses": {"previous_response_id": "r"}})),
            "The request continues a conversation stored at OpenAI (`previous_response_id`), which only the Responses API can read.",
        ),
        (
            asked(Message(role="assistant", parts=(PNG,)), user(Text("Sure?"))),
            "Message 2 (assistant): An image is accepted only in a user message.",
        ),
        (
            asked(user(image(file_id="f", uploaded_to="anthropic"))),
            "Message 2 (user): An image was uploaded to anthropic, not to openai.",
        ),
        (
            asked(user(document(file_id="f"))),
            "Message 2 (user): A document was uploaded to another server, not to openai.",
        ),
        (
            asked(user(image(file_id="f", uploaded_to="openai"))),
            "Message 2 (user): An uploaded image is not accepted; include it in the request or give its URL.",
        ),
        (
            asked(user(document(url="https://x.test/a.pdf"))),
            "Message 2 (user): A document given by URL is not accepted; include it in the request.",
        ),
        (
            asked(user(audio(data="aGk=", media_type="audio/flac"))),
            "Message 2 (user): Audio must be in the request, as WAV or MP3.",
        ),
    ],
)
def test_openai_says_why(request_: Request, reason: str) -> None:
    assert refusal(request_, "openai") == reason


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (
            asked(parameters=Parameters(temperature=1.5)),
            "The temperature is 1.5 but must be between 0 and 1.",
        ),
        (
            asked(response_format=ResponseFormat(kind="json")),
            "The answer must be a JSON object, which Anthropic's API guarantees only with a schema.",
        ),
        (
            asked(tools=(Tool(name="a", schema={"type": "string"}),)),
            "The schema of the tool `a` does not describe a JSON object (`type` is not `object`).",
        ),
        (asked(Message(role="user")), "Message 2 (user) is empty."),
        (
            asked(
                Message(role="assistant", parts=(Text("Hi"),)),
                Message(role="system", parts=(Text("x"),)),
                HELLO,
            ),
            "Message 3 (system) follows an answer; it may follow only a user message.",
        ),
        (
            asked(Message(role="assistant", parts=(Text("It is "),))),
            "The beginning of the answer must not end with white space.",
        ),
        (
            asked(
                called(ToolCall(id="", name="a", arguments={})),
                Message(role="tool", parts=(ToolResult(call_id=""),)),
            ),
            "A call to `a` has no ID.",
        ),
        (
            asked(
                called(ToolCall(id="a:1", name="a", arguments=[])),
                Message(role="tool", parts=(ToolResult(call_id="a:1"),)),
            ),
            "The ID of a call to `a` contains characters other than letters, digits, underscores and hyphens."
            " The arguments of a call to `a` are not a JSON object.",
        ),
        (
            asked(Message(role="assistant", parts=(Thinking(provider="anthropic", text="hm"),))),
            "A thinking block has no signature.",
        ),
        (
            asked(
                parameters=Parameters(
                    max_tokens=900, extra={"anthropic": {"thinking": {"budget_tokens": 1000}}}
                )
            ),
            "The thinking budget is 1,000 tokens; 1,024 is the minimum. The thinking budget (1,000 tokens) must be"
            " less than `max_tokens` (900).",
        ),
        (asked(user(audio(data="aGk="))), "Message 2 (user): Audio is not accepted."),
        (
            asked(user(image(data="aGk=", media_type="image/tiff"))),
            "Message 2 (user): An image of type image/tiff is not accepted; JPEG, PNG, GIF and WebP are.",
        ),
        (
            asked(user(document(data="aGk="))),
            "Message 2 (user): A document of type unknown is not accepted; PDF and plain text are.",
        ),
    ],
)
def test_anthropic_says_why(request_: Request, reason: str) -> None:
    assert refusal(request_, "anthropic") == reason


@pytest.mark.parametrize("budget", [2000, None, "much"])
def test_a_budget_that_is_large_enough_or_unknown_is_accepted(budget: Any) -> None:
    thinking = {"anthropic": {"thinking": {"budget_tokens": budget}}}
    assert refusals(asked(parameters=Parameters(extra=thinking)), "anthropic") == ()


def test_instructions_before_the_first_turn_and_after_one_of_the_user_are_accepted_by_anthropic() -> None:
    system = Message(role="system", parts=(Text("Be brief."),))
    assert refusals(Request(messages=(system, HELLO, system, system)), "anthropic") == ()


def test_an_unfinished_answer_may_be_continued_by_anthropic() -> None:
    assert refusals(asked(Message(role="assistant", parts=(Text("It is"),))), "anthropic") == ()
    assert refusals(asked(Message(role="assistant")), "anthropic") == ()


def test_the_limits_of_openai_do_not_hold_for_other_servers() -> None:
    request = asked(
        tools=(Tool(name="fs.read"),) * 129, parameters=Parameters(temperature=7, top_p=2, stop=("a",) * 9)
    )
    assert refusals(request, "my-server") == ()
    assert refusals(asked(parameters=Parameters(temperature=-1)), "my-server") == (
        "The temperature is -1 but must be at least 0.",
    )


def test_results_of_the_responses_api_may_come_later_or_belong_to_a_stored_response() -> None:
    late = asked(called(CALL), HELLO, RESULT)
    assert refusals(late, "openai", api="openai_responses") == ()
    stored = Parameters(extra={"openai_responses": {"previous_response_id": "r"}})
    assert refusals(asked(RESULT, parameters=stored), "openai", api="openai_responses") == ()
    assert refusals(Request(parameters=stored), "openai", api="openai_responses") == ()
    assert refusals(asked(RESULT), "openai", api="openai_responses") == (
        "A result (c1) does not follow its call.",
    )
    assert refusals(asked(called(CALL), HELLO), "openai", api="openai_responses") == (
        "The call to `search` (c1) has no result.",
    )


def test_recordings_in_a_message_of_the_user_are_accepted_by_chat_completions() -> None:
    assert refusals(asked(user(audio(data="aGk=", media_type="audio/wav"))), "openai") == ()


def test_the_responses_api_takes_images_in_results_but_no_recordings() -> None:
    shown = asked(called(CALL), Message(role="tool", parts=(ToolResult(call_id="c1", parts=(PNG,)),)))
    assert refusals(shown, "openai", api="openai_responses") == ()
    assert refusals(asked(user(audio(data="aGk="))), "openai", api="openai_responses") == (
        "Message 2 (user): Audio is not accepted.",
    )
