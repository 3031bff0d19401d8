"""A recorded call is priced by its model name, with or without the provider."""

from dataclasses import replace
from decimal import Decimal

import pytest

from timemachine.core.pure.unknown_prices import reason_of
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


def test_a_stated_cost_is_kept_and_says_so() -> None:
    stated = ActionDraft(kind="llm_call", model="openai:gpt-4o", usage=USAGE, cost_usd=Decimal("0.5"))
    (found,) = priced([stated])
    assert (found.cost_usd, found.prices) == (Decimal("0.5"), {"source": "stated"})
    detailed = replace(stated, prices={"per_million_tokens": {"input": 1}})
    assert priced([detailed]) == [detailed]


def test_a_sender_can_state_why_it_does_not_know_the_cost() -> None:
    draft = ActionDraft(kind="llm_call", model="openai:gpt-4o", usage=USAGE, prices={"plan": "flat"})
    assert priced([draft]) == [draft]


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (ActionDraft(kind="llm_call"), "model_and_tokens_not_recorded"),
        (ActionDraft(kind="llm_call", usage=Usage(input_tokens=0)), "model_not_recorded"),
        (ActionDraft(kind="llm_call", usage=USAGE), "model_not_recorded"),
        (ActionDraft(kind="llm_call", model="openai:gpt-4o"), "tokens_not_recorded"),
        (ActionDraft(kind="ask", model="openai:nothing", usage=USAGE), "model_not_listed"),
        (ActionDraft(kind="tool_call", model="nobody:nothing"), "provider_not_listed"),
    ],
)
def test_an_unknown_cost_says_why(draft: ActionDraft, reason: str) -> None:
    (found,) = priced([draft])
    assert (found.cost_usd, reason_of(found.prices)) == (None, reason)


@pytest.mark.parametrize("kind", ["message", "tool_call", "ask"])
def test_steps_that_are_no_calls_have_no_price(kind: str) -> None:
    draft = ActionDraft(kind=kind)
    assert priced([draft]) == [draft]


def test_conditions_in_the_parameters_apply() -> None:
    opus = ActionDraft(kind="llm_call", model="anthropic:claude-opus-4-8", usage=USAGE)
    plain, fast, priority = priced(
        [
            opus,
            replace(opus, parameters={"speed": "fast"}),
            replace(opus, parameters={"service_tier": "priority"}),
        ]
    )
    assert plain.cost_usd is not None
    assert fast.cost_usd == 2 * plain.cost_usd
    assert (priority.cost_usd, reason_of(priority.prices)) == (None, "condition_not_listed")
