"""Recorded names of providers and models: each is found in the price list, or its price is unknown with a reason."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from timemachine.core.pure.unknown_prices import REASONS, reason_of, reason_words
from timemachine.llm.prices import recorded_price
from timemachine.llm.pure.price_names import price_provider, recorded_name
from timemachine.llm.pure.usage import TokenUsage

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
USAGE = TokenUsage(input_tokens=1_000_000, output_tokens=100_000)
ARN = "arn:aws:bedrock:us-east-1:123456789012:"
VERTEX = "projects/p/locations/{}/publishers/{}/models/{}"

PRICED = [
    # Amazon Bedrock: an id without a region, or with that of a geography, costs 10% more than `global.` since Claude 4.5
    ("aws.bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws", "4.95"),
    ("bedrock:anthropic.claude-sonnet-4-20250514-v1:0", "aws", "4.5"),
    ("amazon-bedrock:global.anthropic.claude-haiku-4-5-20251001-v1:0", "aws", "1.5"),
    ("amazon_bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0", "aws", "1.65"),
    ("bedrock_converse:apac.amazon.nova-pro-v1:0", "aws", "1.12"),
    ("aws_bedrock:us.meta.llama3-3-70b-instruct-v1:0", "aws", "0.792"),
    (f"aws.bedrock:{ARN}inference-profile/us.anthropic.claude-opus-5-5", "aws", "6.6"),
    (f"{ARN[:-13]}:foundation-model/amazon.nova-micro-v1:0", "aws", "0.049"),
    ("anthropic:us.anthropic.claude-sonnet-4-20250514-v1:0", "aws", "4.5"),
    ("us.anthropic.claude-sonnet-4-20250514-v1:0", "aws", "4.5"),
    ("bedrock/eu.anthropic.claude-sonnet-4-20250514-v1:0", "aws", "4.5"),
    ("litellm:bedrock/converse/us.amazon.nova-lite-v1:0", "aws", "0.084"),
    ("bedrock/eu-central-1/anthropic.claude-3-5-sonnet-20240620-v1:0", "aws", "4.5"),
    # Vertex AI
    ("gcp.vertex_ai:gemini-2.5-pro", "google", "4"),
    ("vertex_ai:claude-sonnet-4@20250514", "google", "4.5"),
    ("vertex_ai_beta/gemini-2.5-pro", "google", "4"),
    ("google_vertex:gemini-2.5-flash", "google", "0.55"),
    ("gcp.vertex.agent:gemini-2.5-flash", "google", "0.55"),
    ("google.vertex.anthropic.messages:claude-opus-4-1@20250805", "google", "22.5"),
    ("anthropic:claude-sonnet-4@20250514", "google", "4.5"),
    ("vertexai:" + VERTEX.format("global", "anthropic", "claude-sonnet-5-5"), "google", "3"),
    ("vertexai:" + VERTEX.format("europe-west1", "google", "gemini-2.5-flash"), "google", "0.55"),
    # Azure: the deployment is often named after the model
    ("azure:gpt-4o", "azure", "3.5"),
    ("azure_ai/claude-sonnet-4-6", "azure", "4.5"),
    ("azure.ai.openai:gpt-4o-2024-08-06", "azure", "3.5"),
    ("az.ai.inference:gpt-4.1-mini", "azure", "0.56"),
    ("azure-openai.chat:gpt-35-turbo", "azure", "0.65"),
    ("openai:azure/gpt-4o", "azure", "3.5"),
    # OpenRouter
    ("openrouter:anthropic/claude-sonnet-4.5", "openrouter", "8.25"),
    ("openrouter.chat:openai/gpt-5", "openrouter", "2.25"),
    ("openrouter/anthropic/claude-opus-4.8", "openrouter", "7.5"),
    # the Vercel AI SDK
    ("openai.chat:gpt-4o-mini", "openai", "0.21"),
    ("openai.responses:gpt-5", "openai", "2.25"),
    ("anthropic.messages:claude-sonnet-4-0", "anthropic", "4.5"),
    ("google.generative-ai:gemini-2.5-flash", "google", "0.55"),
    ("google.vertex.chat:gemini-2.5-flash", "google", "0.55"),
    ("amazon-bedrock:us.anthropic.claude-sonnet-4-20250514-v1:0", "aws", "4.5"),
    ("xai.chat:grok-4", "x-ai", "4.5"),
    ("mistral.chat:mistral-large-latest", "mistral", "2.6"),
    # others: dated and moving names, names with another name in front
    ("openai:gpt-5-20250807", "openai", "2.25"),
    ("anthropic:claude-3-5-haiku-latest", "anthropic", "1.2"),
    ("anthropic/claude-sonnet-4-0", "anthropic", "4.5"),
    ("anthropic:anthropic/claude-sonnet-4.6", "anthropic", "4.5"),
    ("anthropic:claude-opus-5-5[1m]", "anthropic", "6"),
    ("litellm:gemini/gemini-2.5-flash", "google", "0.55"),
    ("litellm/groq/llama-3.3-70b-versatile", "groq", "0.669"),
    ("gpt-4o-mini", "openai", "0.21"),
    # releases of a model that the list knows by the beginning of its name
    ("vertex_ai:claude-3-5-sonnet-v2@20241022", "google", "4.5"),
    ("aws.bedrock:us.amazon.nova-lite-v1:0:300k", "aws", "0.084"),
    ("google:models/gemini-2.5-pro-preview-06-05", "google", "4"),
    ("openai:gpt-4o-audio-preview-2024-12-17", "openai", "3.5"),
    ("openai:ft:gpt-4o-mini-2024-07-18:acme::abc", "openai", "0.42"),
    ("ft:gpt-4o-mini-2024-07-18:acme::abc", "openai", "0.42"),
    ("anthropic:claude-sonnet-4-20250514", "anthropic", "4.5"),
    ("cohere:c4ai-aya-expanse-32b", "cohere", "0.65"),
    # variants of OpenRouter: some have prices of their own, those with `:free` cost nothing
    ("anthropic/claude-3.7-sonnet:thinking", "openrouter", "4.5"),
    ("deepseek/deepseek-r1:free", "openrouter", "0"),
    ("litellm:openrouter/meta-llama/llama-3.3-70b-instruct:free", "openrouter", "0"),
]


@pytest.mark.parametrize(("recorded", "provider", "cost"), PRICED)
def test_a_name_of_any_tool_has_the_listed_price(recorded: str, provider: str, cost: str) -> None:
    assert provider in {each.provider for each in recorded_name(recorded).listed}
    found = recorded_price(recorded, USAGE, NOW)
    assert found.prices is not None
    assert (found.prices["source"], found.prices["provider"]) == ("genai-prices", provider)
    assert found.cost_usd == Decimal(cost)


UNKNOWN = [
    (f"bedrock:{ARN}application-inference-profile/a1b2c3", "model_not_listed"),
    (f"bedrock:{ARN}provisioned-model/a1b2c3", "model_not_listed"),
    ("arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.nova-pro-v1:0", "model_not_listed"),
    ("bedrock:us-gov.anthropic.claude-3-haiku-20240307-v1:0", "model_not_listed"),
    ("bedrock:anthropic.claude-nobody-knows-v1:0", "model_not_listed"),
    ("aws.sagemaker:llama", "provider_not_listed"),
    ("vertex_ai:" + VERTEX.format("us-east5", "anthropic", "claude-sonnet-4-5@20250929"), "model_not_listed"),
    ("vertex_ai:gemini-nobody-knows", "model_not_listed"),
    ("bedrock/us-gov-west-1/anthropic.claude-3-5-sonnet-20240620-v1:0", "model_not_listed"),
    ("bedrock/us-east-1/1-month-commitment/anthropic.claude-v2:1", "model_not_listed"),
    ("azure:my-deployment", "model_not_listed"),
    ("azure_ai/DeepSeek-R1", "model_not_listed"),
    ("openrouter:openrouter/auto-nobody-knows", "model_not_listed"),
    ("openrouter:nobody/knows", "model_not_listed"),
    ("openai.chat:my-own-model", "model_not_listed"),
    ("ft:gpt-4.1-2025-04-14:acme::abc", "model_not_listed"),
    ("azure:gpt-4o-2024-08-06.ft-0e208cf3", "model_not_listed"),
    ("my-gateway:gpt-4o", "provider_not_listed"),
    ("llama-on-my-server", "provider_not_recorded"),
    ("somebody/some-model", "provider_not_recorded"),
    ("ollama:gpt-oss:120b-cloud", "provider_not_listed"),
    ("ollama:glm-4.6:cloud", "provider_not_listed"),
    # other models, whose names contain that of a listed one
    ("azure:o4-mini-deep-research", "model_not_listed"),
    ("azure:gpt-5-nano-of-our-team", "model_not_listed"),
    ("deepseek:deepseek-r1-distill-llama-70b", "model_not_listed"),
    ("google:gemini-3.7-flash-lite", "model_not_listed"),
    ("google:gemini-2.0-flash-exp-image-generation", "model_not_listed"),
    ("google:gemini-2.5-pro:free", "model_not_listed"),
    ("anthropic:claude-opus-4-6-fast", "model_not_listed"),
    ("anthropic:claude-opus-4-10", "model_not_listed"),
    ("vertex_ai:tuned-gemini-1.5-flash", "model_not_listed"),
    ("openai/gpt-4o:nitro", "model_not_listed"),
    ("openrouter:nobody/knows:free", "model_not_listed"),
]


@pytest.mark.parametrize(("recorded", "reason"), UNKNOWN)
def test_a_name_that_is_not_listed_has_an_unknown_cost_and_a_reason(recorded: str, reason: str) -> None:
    found = recorded_price(recorded, USAGE, NOW)
    assert (found.cost_usd, reason_of(found.prices)) == (None, reason)


@pytest.mark.parametrize(
    "recorded",
    [
        "ollama:llama3.2",
        "ollama.chat:llama3.2",
        "ollama/llama3.2:3b",
        "ollama_chat/qwen3",
        "ollama_chat:qwen3",
    ],
)
def test_models_on_ones_own_machine_cost_nothing_under_any_name(recorded: str) -> None:
    assert recorded_price(recorded, None, NOW).cost_usd == 0


def test_a_suffix_of_the_tool_does_not_hide_the_provider() -> None:
    assert price_provider(" Google.Vertex.Anthropic.Messages ") == "google"
    assert price_provider("gcp.gen_ai") == "google"
    assert price_provider("nobody.knows") is None
    assert price_provider("aws.sagemaker.endpoint") is None


EMBEDDINGS = [
    ("openai.embedding:text-embedding-3-small", "0.02"),
    ("text-embedding-3-large", "0.13"),
    ("text-embedding-ada-002", "0.1"),
    ("voyage-3.5", "0.06"),
    ("azure:text-embedding-3-large", "0.13"),
    ("aws.bedrock:amazon.titan-embed-text-v2:0", "0.02"),
    ("gcp.gemini:gemini-embedding-001", "0.15"),
]


@pytest.mark.parametrize(("recorded", "cost"), EMBEDDINGS)
@pytest.mark.parametrize("written", [None, 0])
def test_embeddings_are_priced_without_output_tokens(recorded: str, cost: str, written: int | None) -> None:
    usage = TokenUsage(input_tokens=1_000_000, output_tokens=written)
    assert recorded_price(recorded, usage, NOW).cost_usd == Decimal(cost)


def test_a_reason_is_said_in_words() -> None:
    assert reason_of({"source": "genai-prices"}) is None
    assert reason_of({"source": "unknown", "reason": 5}) is None
    assert reason_of(None) is None
    assert reason_words("tokens_not_recorded") == REASONS["tokens_not_recorded"]
    assert reason_words("of a later version") == "of a later version"
