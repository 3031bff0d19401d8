"""The table of built-in providers.

The default models are those that each provider offered for general use in November 2026. An operator can change one
with the `…_DEFAULT_MODEL` variable in its row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Protocol = Literal["openai", "anthropic", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A built-in provider: its address, the environment variables that configure it, and its names for parameters."""

    name: str
    label: str
    protocol: Protocol
    base_url: str
    base_url_variable: str
    key_variable: str | None
    default_model: str
    default_model_variable: str
    price_provider: str | None
    limit_parameter: str = "max_tokens"
    seed_parameter: str | None = "seed"
    model_prefixes: tuple[str, ...] = ()


_TABLE = (
    Provider(
        name="openai",
        label="OpenAI",
        protocol="openai",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variable="OPENAI_API_KEY",
        default_model="gpt-6.1-terra",
        default_model_variable="OPENAI_DEFAULT_MODEL",
        price_provider="openai",
        limit_parameter="max_completion_tokens",
        model_prefixes=("gpt-", "o1", "o3", "o4"),
    ),
    Provider(
        name="anthropic",
        label="Anthropic",
        protocol="anthropic",
        base_url="https://api.anthropic.com",
        base_url_variable="ANTHROPIC_BASE_URL",
        key_variable="ANTHROPIC_API_KEY",
        default_model="claude-sonnet-5-5",
        default_model_variable="ANTHROPIC_DEFAULT_MODEL",
        price_provider="anthropic",
        seed_parameter=None,
        model_prefixes=("claude-",),
    ),
    Provider(
        name="gemini",
        label="Google Gemini",
        protocol="openai",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        base_url_variable="GEMINI_BASE_URL",
        key_variable="GEMINI_API_KEY",
        default_model="gemini-3.8-flash",
        default_model_variable="GEMINI_DEFAULT_MODEL",
        price_provider="google",
        model_prefixes=("gemini-", "gemma-"),
    ),
    Provider(
        name="xai",
        label="xAI",
        protocol="openai",
        base_url="https://api.x.ai/v1",
        base_url_variable="XAI_BASE_URL",
        key_variable="XAI_API_KEY",
        default_model="grok-4.7",
        default_model_variable="XAI_DEFAULT_MODEL",
        price_provider="x-ai",
        limit_parameter="max_completion_tokens",
        model_prefixes=("grok-",),
    ),
    Provider(
        name="groq",
        label="Groq",
        protocol="openai",
        base_url="https://api.groq.com/openai/v1",
        base_url_variable="GROQ_BASE_URL",
        key_variable="GROQ_API_KEY",
        default_model="openai/gpt-oss-120b",
        default_model_variable="GROQ_DEFAULT_MODEL",
        price_provider="groq",
        limit_parameter="max_completion_tokens",
    ),
    Provider(
        name="mistral",
        label="Mistral",
        protocol="openai",
        base_url="https://api.mistral.ai/v1",
        base_url_variable="MISTRAL_BASE_URL",
        key_variable="MISTRAL_API_KEY",
        default_model="mistral-medium-latest",
        default_model_variable="MISTRAL_DEFAULT_MODEL",
        price_provider="mistral",
        seed_parameter="random_seed",
        model_prefixes=("mistral-", "ministral-", "magistral-", "codestral", "devstral-", "pixtral-"),
    ),
    Provider(
        name="ollama",
        label="Ollama (on this machine)",
        protocol="openai",
        base_url="http://localhost:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        key_variable=None,
        default_model="llama3.2",
        default_model_variable="OLLAMA_DEFAULT_MODEL",
        price_provider=None,
    ),
)
PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in _TABLE}
