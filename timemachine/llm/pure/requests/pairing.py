"""Calls and their results: each call is followed by its result, and each result follows its call.

https://platform.openai.com/docs/guides/function-calling
https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
"""

from collections.abc import Iterator

from timemachine.llm.pure.requests.neutral import RESPONSES, Message, Request


def unpaired(request: Request, api: str) -> tuple[str, ...]:
    """Return the calls without a result and the results without a call, each as a sentence.

    In the Responses API a result may come later, and its call may be in a stored response.
    """
    if api == RESPONSES:
        return tuple(_in_any_order(request))
    return tuple(_in_order(request.messages))


def _in_order(messages: tuple[Message, ...]) -> Iterator[str]:
    open_calls: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            for result in message.results:
                if open_calls.pop(result.call_id, None) is None:
                    yield _without_a_call(result.call_id)
            continue
        yield from _without_results(open_calls)
        open_calls = {call.id: call.name for call in message.calls}
    yield from _without_results(open_calls)


def _in_any_order(request: Request) -> Iterator[str]:
    calls = {call.id: call.name for message in request.messages for call in message.calls}
    results = [result.call_id for message in request.messages for result in message.results]
    answered = frozenset(results)
    yield from _without_results({call: name for call, name in calls.items() if call not in answered})
    own = request.parameters.extra.get(RESPONSES, {})
    if not (own.get("previous_response_id") or own.get("conversation")):
        yield from (_without_a_call(call) for call in results if call not in calls)


def _without_results(calls: dict[str, str]) -> Iterator[str]:
    return (f"The call to `{name}` ({call or 'without ID'}) has no result." for call, name in calls.items())


def _without_a_call(call_id: str) -> str:
    return f"A result ({call_id or 'without ID'}) does not follow its call."
