"""The name of a session that nobody named: what its first call was asked."""

import re
from typing import Final

from timemachine.client.proxy.pure.endpoints import EMBEDDINGS
from timemachine.client.proxy.pure.exchange import Exchange
from timemachine.client.proxy.pure.steps import request_of
from timemachine.core.pure.names import shortened
from timemachine.llm.pure.requests.neutral import Text
from timemachine.llm.pure.requests.recorded import read_messages

_INSERTED: Final = re.compile(r"\s*<[A-Za-z][\w-]*[\s>]")
"""How a text begins that the agent put above the request, such as `<environment_context>`."""

_FOR_A_TITLE: Final = re.compile(r"<session>(.*?)</session>", re.DOTALL)
"""What Claude Code sends first, for a title: the request of the person, with instructions below it."""


def name_of(exchange: Exchange) -> str | None:
    """Return the first words that a person wrote in the request of a call, on one line; None if there are none."""
    if exchange.endpoint is EMBEDDINGS:
        return None
    asked, _ = request_of(exchange)
    texts = (
        part.text
        for message in read_messages(asked) or ()
        if message.role == "user"
        for part in message.parts
        if isinstance(part, Text)
    )
    return next(filter(None, map(_request_in, texts)), None)


def _request_in(text: str) -> str:
    if (found := _FOR_A_TITLE.match(text)) is not None:
        return shortened(found[1])
    return "" if _INSERTED.match(text) else shortened(text)
