"""What holds for every request: it is read or refused, and what was read is written again."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm.requests.bodies import anthropic_bodies, chat_bodies, response_bodies, values
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.canonical import canonical_json
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import Request, Written
from timemachine.llm.pure.requests.plain_text import transcript
from timemachine.llm.pure.requests.refusals import refusals

APIS: dict[str, tuple[Any, Callable[[object], Request], Callable[[Request], Written]]] = {
    "openai": (chat_bodies, openai_chat.read, openai_chat.write),
    "openai_responses": (response_bodies, openai_responses.read, openai_responses.write),
    "anthropic": (anthropic_bodies, anthropic_messages.read, anthropic_messages.write),
}
any_bodies = st.one_of(values, chat_bodies, response_bodies, anthropic_bodies)


def read_or_none(read: Callable[[object], Request], body: object) -> Request | None:
    try:
        return read(body)
    except RequestError:
        return None


@pytest.mark.parametrize("name", APIS)
def test_what_was_read_is_written_and_read_again(name: str) -> None:
    bodies, read, write = APIS[name]

    @settings(max_examples=150)
    @given(bodies)
    def law(body: Any) -> None:
        request = read_or_none(read, body)
        if request is not None:
            written = write(request)
            if any("sent in a user message after it" in note for note in written.dropped):
                request = read(written.body)
                written = write(request)
            assert not written.dropped
            assert read(written.body) == request

    law()


@pytest.mark.parametrize("name", APIS)
def test_any_json_is_read_or_refused_and_can_be_written_for_every_api(name: str) -> None:
    _, read, _ = APIS[name]

    @given(any_bodies)
    def law(body: Any) -> None:
        request = read_or_none(read, body)
        if request is not None:
            for _, read_other, write in APIS.values():
                assert read_or_none(read_other, write(request).body) is not None
            assert canonical_json(request).isascii()
            assert isinstance(transcript(request), str)
            for provider in ("openai", "anthropic", "my-server"):
                assert all(reason.endswith(".") for reason in refusals(request, provider))

    law()
