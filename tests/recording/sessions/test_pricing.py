"""A recorded call is priced by its model name, with or without the provider."""

from decimal import Decimal

import pytest

from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

USAGE = Usage(input_tokens=1_000, output_tokens=100)


def cost_of(model: str) -> Decimal | None:
    (found,) = priced([ActionDraft(kind="llm_call", model=model, usage=USAGE)])
    assert found.model == model
    return found.cost_usd


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-mini"),
        ("openai", "gpt-4o"),
        ("openai", "gpt-4.5"),
        ("anthropic", "claude-3-haiku"),
        ("anthropic", "claude-4-sonnet"),
        ("anthropic", "claude-4-opus"),
        ("gemini", "gemini-2.5-flash"),
        ("gemini", "gemini-2.5-pro"),
        ("xai", "grok-4"),
        ("mistral", "mistral-large"),
    ],
)
def test_a_bare_model_name_costs_the_same_as_with_its_provider(provider: str, model: str) -> None:
    assert cost_of(model) == cost_of(f"{provider}:{model}") is not None


def test_a_model_served_by_several_providers_needs_its_provider() -> None:
    assert cost_of("groq:llama-3.3-70b") is not None
    assert cost_of("llama-3.3-70b") is None


def test_claude_is_an_alias_of_anthropic() -> None:
    assert cost_of("claude:claude-3-haiku") == cost_of("anthropic:claude-3-haiku")


def test_an_unknown_model_has_no_price() -> None:
    assert cost_of("openai") is None
    assert cost_of("nobody:nothing") is None
