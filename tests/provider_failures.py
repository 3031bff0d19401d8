"""The stub model server in place of OpenAI and Anthropic, and every way in which a provider can fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.stub_answers import Mode
from tests.stub_model_server import Script, StubModelServer

MODELS = ("openai:stub-model", "anthropic:stub-model")
ANSWER = "Invoices are kept for ten years."
RETRIED = 3


@contextmanager
def as_vendors(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    """Run the stub and point the settings of both vendors at it."""
    with StubModelServer() as stub:
        for name, url in (("OPENAI", f"{stub.url}/v1"), ("ANTHROPIC", stub.url)):
            monkeypatch.setenv(f"{name}_API_KEY", "sk-test-0123456789")
            monkeypatch.setenv(f"{name}_BASE_URL", url)
        yield stub


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehaviour:
    """A failure of a provider and its outcome: the error code, words of the message, and how often the provider is called."""

    mode: Mode
    code: str | None
    words: str
    calls: int = 1
    partial: str | None = None
    script: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.mode} {self.script.get('status', '')}".strip()

    def play(self, stub: StubModelServer) -> None:
        """Script the stub with this failure."""
        stub.script(Script(mode=self.mode, **({"answer": ANSWER} | self.script)))


BUSY: dict[str, Any] = {"status": 429, "body": '{"error": {"message": "Slow down", "type": "rate_limit"}}'}
MISBEHAVIOURS = (
    Misbehaviour(
        mode="error", code="model_failed", words="returned 429: Slow down", calls=RETRIED, script=BUSY
    ),
    Misbehaviour(
        mode="error",
        code="model_failed",
        words="returned 429: Slow down. Wait 600 s and try again.",
        script=BUSY | {"retry_after": "600"},
    ),
    Misbehaviour(mode="500", code="model_failed", words="returned 500: The stub broke", calls=RETRIED),
    Misbehaviour(mode="slow", code=None, words=ANSWER, script={"seconds": 0.3}),
    Misbehaviour(mode="slow_words", code=None, words=ANSWER, script={"seconds": 0.05}),
    Misbehaviour(mode="refusal", code=None, words="I can't help with that.", script={"answer": None}),
    Misbehaviour(mode="garbage", code="model_not_understood", words="cannot be read"),
    Misbehaviour(mode="broken_event", code="model_not_understood", words="is not JSON", partial="Invoices"),
    Misbehaviour(mode="html", code="model_not_understood", words="it was sent as text/html"),
    Misbehaviour(mode="empty", code=None, words="The model returned an empty answer."),
    Misbehaviour(mode="truncated", code=None, words="cut off"),
    Misbehaviour(mode="closed", code="model_interrupted", words="may have been billed", partial="Invoices"),
    Misbehaviour(mode="error_event", code="model_interrupted", words="Overloaded", partial="Invoices"),
    Misbehaviour(
        mode="endless", code="answer_too_long", words="longer than 1,000,000 characters", partial="Invoices"
    ),
    Misbehaviour(mode="huge", code="answer_too_long", words="longer than"),
    Misbehaviour(mode="redirect", code="model_failed", words="a redirect, which is not followed"),
)
