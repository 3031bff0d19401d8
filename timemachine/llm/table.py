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
    base_url: str
    key_variable: str | None
    default_model: str
    price_provider: str | None
    protocol: Protocol = "openai"
    limit_parameter: str = "max_tokens"
    seed_parameter: str | None = "seed"
    model_prefixes: tuple[str, ...] = ()

    @property
    def base_url_variable(self) -> str:
        """The environment variable with another address, such as OPENAI_BASE_URL."""
        return f"{self.name.upper()}_BASE_URL"

    @property
    def default_model_variable(self) -> str:
        """The environment variable with another default model, such as OPENAI_DEFAULT_MODEL."""
        return f"{self.name.upper()}_DEFAULT_MODEL"


_TABLE = (
    Provider(
        name="openai",
        label="OpenAI",
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        default_model="gpt-6.1-terra",
        price_provider="openai",
        limit_parameter="max_completion_tokens",
        model_prefixes=("gpt-", "o1", "o3", "o4"),
    ),
    Provider(
        name="anthropic",
        label="Anthropic",
        protocol="anthropic",
        base_url="https://api.anthropic.com",
        key_variable="ANTHROPIC_API_KEY",
        default_model="claude-sonnet-5-5",
        price_provider="anthropic",
        seed_parameter=None,
        model_prefixes=("claude-",),
    ),
    Provider(
        name="gemini",
        label="Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
        default_model="gemini-3.8-flash",
        price_provider="google",
        model_prefixes=("gemini-", "gemma-"),
    ),
    Provider(
        name="xai",
        label="xAI",
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        default_model="grok-4.7",
        price_provider="x-ai",
        limit_parameter="max_completion_tokens",
        model_prefixes=("grok-",),
    ),
    Provider(
        name="groq",
        label="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        default_model="openai/gpt-oss-120b",
        price_provider="groq",
        limit_parameter="max_completion_tokens",
    ),
    Provider(
        name="mistral",
        label="Mistral",
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        default_model="mistral-medium-latest",
        price_provider="mistral",
        seed_parameter="random_seed",
        model_prefixes=("mistral-", "ministral-", "magistral-", "codestral", "devstral-", "pixtral-"),
    ),
    Provider(
        name="ollama",
        label="Ollama (on this machine)",
        base_url="http://localhost:11434/v1",
        key_variable=None,
        default_model="llama3.2",
        price_provider=None,
    ),
)
PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in _TABLE}
