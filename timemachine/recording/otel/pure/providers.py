"""The provider of the model of a call: its name in the conventions, or else the host that was called."""

from typing import Final
from urllib.parse import urlsplit

from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.kinds import ai_sdk_operation

_PROVIDERS: Final = {
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "az.ai.openai": "azure",
    "az.ai.inference": "azure",
    "aws.bedrock": "bedrock",
    "aws_bedrock": "bedrock",
    "gcp.gemini": "gemini",
    "gcp.gen_ai": "gemini",
    "gcp.vertex_ai": "vertex",
    "google": "gemini",
    "gemini": "gemini",
    "vertexai": "vertex",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "x_ai": "xai",
}
_FRAMEWORKS: Final = frozenset({"strands-agents", "gcp.vertex.agent", "crewai", "langchain"})
"""What some frameworks write as the provider: their own name. The provider of their models is not recorded."""
_AI_SDK_PROVIDERS: Final = {
    "amazon-bedrock": "bedrock",
    "azure": "azure",
    "google.generative-ai": "gemini",
    "google.vertex": "vertex",
}
"""Vercel's AI SDK adds the interface to the provider's name: `openai.chat`, `google.vertex.chat`."""
_NAMES: Final = (
    "gen_ai.provider.name",
    "gen_ai.system",
    "llm.provider",
    "llm.system",
    "mlflow.llm.provider",
    "ai.model.provider",
)
_OF_CLIENTS: Final = frozenset({"openai", "anthropic"})
"""Also what instrumentations of these clients write for the other providers that have the same API
(https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/#gen-ai-provider-name)."""
_HOSTS: Final = {
    ".azure.com": "azure",
    ".amazonaws.com": "bedrock",
    ".aiplatform.googleapis.com": "vertex",
    "-aiplatform.googleapis.com": "vertex",
    ".generativelanguage.googleapis.com": "gemini",
    ".openrouter.ai": "openrouter",
    ".groq.com": "groq",
    ".deepseek.com": "deepseek",
    ".x.ai": "xai",
    ".mistral.ai": "mistral",
    ".together.xyz": "together",
    ".together.ai": "together",
    ".fireworks.ai": "fireworks",
    ".cerebras.ai": "cerebras",
    ".perplexity.ai": "perplexity",
    ".moonshot.ai": "moonshotai",
}
"""Providers by the ends of their hosts."""
_ADDRESSES: Final = ("server.address", "gen_ai.openai.api_base")


def provider_of(attributes: Attributes) -> str | None:
    """Return the provider as our prices name it; as it was written if they do not know it. None if it is not recorded."""
    written = attributes.text(*_NAMES)
    if written is None or written in _FRAMEWORKS:
        return None
    provider = written.strip().lower()
    if ai_sdk_operation(attributes) is not None:
        first = provider.partition(".")[0]
        named = (name for prefix, name in _AI_SDK_PROVIDERS.items() if provider.startswith(prefix))
        return next(named, first)
    if provider in _OF_CLIENTS and (called := _called(attributes)) is not None:
        return called
    return _PROVIDERS.get(provider, provider.replace(":", "_").replace(" ", "_"))


def _called(attributes: Attributes) -> str | None:
    """Return the provider by the host that was called; None if it is not one of these."""
    address = (attributes.text(*_ADDRESSES) or "").strip().lower()
    host = (_host(address) or "").rstrip(".")
    return next((name for end, name in _HOSTS.items() if f".{host}".endswith(end)), None)


def _host(address: str) -> str | None:
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname
    except ValueError:
        return None
