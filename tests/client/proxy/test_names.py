"""A session that nobody named has the name of what its first call was asked."""

from typing import Any

import pytest

from tests.client.proxy.test_steps import exchange_of
from timemachine.client.proxy.pure.names import name_of


def said(content: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("path", "asked", "name"),
    [
        (
            "/chat/completions",
            {"messages": [said("Be brief.", "system"), said("  How\nlong? ")]},
            "How long?",
        ),
        ("/responses", {"input": "Say hello. " * 20}, ("Say hello. " * 7).strip() + "…"),
        (
            "/responses",
            {"input": [said("<environment_context> /work </environment_context>"), said("Fix it.")]},
            "Fix it.",
        ),
        (
            "/messages",
            {"system": "Be brief.", "messages": [said([{"type": "text", "text": "1 < 2?"}])]},
            "1 < 2?",
        ),
        ("/messages", {"messages": [said("<session>\nFix it.\n</session>\n\nWrite a title.")]}, "Fix it."),
        ("/messages", {"messages": [said([{"type": "image", "source": {}}])]}, None),
        ("/embeddings", {"input": "A document."}, None),
        ("/chat/completions", {"messages": 5}, None),
    ],
)
def test_a_request_names_its_session(path: str, asked: dict[str, Any], name: str | None) -> None:
    assert name_of(exchange_of(asked=asked, path=f"/v1{path}")) == name
