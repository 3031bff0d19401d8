"""The addresses whose calls are recorded, and the providers behind known hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from timemachine.llm.pure.answer_stream import AnswerStream, AnthropicStream, OpenAIStream
from timemachine.llm.pure.requests.neutral import ANTHROPIC, OPENAI
from timemachine.llm.pure.responses_stream import ResponsesStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address. `content` are the fields of a request that are not settings; `stream` assembles a streamed answer."""

    path: str
    owner: str
    content: frozenset[str]
    stream: type[AnswerStream] | None


CHAT: Final = Endpoint(
    path="/chat/completions", owner=OPENAI, content=frozenset({"messages", "tools"}), stream=OpenAIStream
)
RESPONSES: Final = Endpoint(
    path="/responses",
    owner=OPENAI,
    content=frozenset({"input", "instructions", "tools"}),
    stream=ResponsesStream,
)
MESSAGES: Final = Endpoint(
    path="/messages",
    owner=ANTHROPIC,
    content=frozenset({"messages", "system", "tools"}),
    stream=AnthropicStream,
)
EMBEDDINGS: Final = Endpoint(path="/embeddings", owner=OPENAI, content=frozenset({"input"}), stream=None)
_ENDPOINTS: Final = {each.path: each for each in (CHAT, RESPONSES, MESSAGES, EMBEDDINGS)}

_PROVIDERS: Final[Mapping[str, str]] = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "api.x.ai": "xai",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "api.together.xyz": "together",
    "api.fireworks.ai": "fireworks",
}
_ENDS_OF_HOSTS: Final[Mapping[str, str]] = {
    ".api.openai.com": "openai",  # regional addresses
    ".openai.azure.com": "azure",
    ".services.ai.azure.com": "azure",
}
_OLLAMA: Final = 11434
"""The port of Ollama."""


def endpoint_of(method: str, path: str) -> Endpoint | None:
    """Return the endpoint of a request, None if it is not recorded. SDKs put the version in the base URL or in the path."""
    return _ENDPOINTS.get(path.removeprefix("/v1").rstrip("/")) if method == "POST" else None


def provider_of(url: str) -> str | None:
    """Return the name of the provider at a URL, None if the host is not known."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.port == _OLLAMA:
        return "ollama"
    ends = (name for end, name in _ENDS_OF_HOSTS.items() if host.endswith(end))
    return _PROVIDERS.get(host) or next(ends, None)
