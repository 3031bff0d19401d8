"""Which entries of the price list a recorded model name can mean.

Every tool writes providers and models in its own way: `aws.bedrock`, `bedrock_converse` and `amazon-bedrock` are one
provider, and `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is a model of it whatever recorded it. Sources of the forms:
the values of `gen_ai.provider.name` (OpenTelemetry), `provider` of the models of the Vercel AI SDK, `ls_provider`
of LangChain, the prefixes of LiteLLM, and the model ids of Amazon Bedrock and Vertex AI.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from timemachine.llm.pure.catalogue import owner_of

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic", "claude"),
    "aws": (
        "aws",
        "aws.bedrock",
        "aws-bedrock",
        "amazon",
        "amazon-bedrock",
        "amazon.bedrock",
        "bedrock",
        "bedrock-converse",
        "bedrock-runtime",
    ),
    "azure": (
        "azure",
        "azureai",
        "azure-ai",
        "azure-ai-foundry",
        "azure-ai-inference",
        "azure-ai-openai",
        "azure-openai",
        "azureopenai",
        "az.ai",
    ),
    "baseten": ("baseten",),
    "cerebras": ("cerebras",),
    "cloudflare": ("cloudflare", "cloudflare-workers-ai", "workers-ai"),
    "cohere": ("cohere",),
    "databricks": ("databricks",),
    "deepseek": ("deepseek",),
    "fireworks": ("fireworks", "fireworksai", "fireworks-ai"),
    "google": (
        "google",
        "googleai",
        "google-ai",
        "google-ai-studio",
        "google-anthropic-vertex",
        "google-genai",
        "google-gemini",
        "google-generative-ai",
        "google-gla",
        "google-vertex",
        "google-vertexai",
        "google-vertex-ai",
        "google-vertex-anthropic",
        "gcp.gemini",
        "gcp.gen-ai",
        "gcp.genai",
        "gcp.vertex",
        "gcp.vertex-ai",
        "gemini",
        "vertex",
        "vertexai",
        "vertex-ai",
        "vertex-ai-beta",
    ),
    "groq": ("groq",),
    "minimax": ("minimax",),
    "mistral": ("mistral", "mistralai", "mistral-ai"),
    "moonshotai": ("moonshot", "moonshotai", "moonshot-ai"),
    "novita": ("novita",),
    "openai": ("openai", "open-ai", "openai-chat", "openai-responses"),
    "openrouter": ("openrouter",),
    "perplexity": ("perplexity",),
    "together": ("together", "togetherai", "together-ai"),
    "voyageai": ("voyage", "voyageai", "voyage-ai"),
    "x-ai": ("xai", "x-ai", "grok"),
    "zai": ("zai", "z-ai"),
    "zhipuai": ("zhipuai",),
}
_PROVIDERS: Final = {written: listed for listed, names in _NAMES.items() for written in names}
_NOT_LISTED: Final = frozenset({"aws.sagemaker"})
_HOSTS: Final = frozenset({"aws", "azure", "google", "openrouter"})
"""Providers that sell models of other vendors, whose name therefore can precede the model's."""
_GATEWAYS: Final = frozenset({"litellm"})
"""Names of software that passes calls on; the real provider is in the model's name."""
_OLLAMA: Final = frozenset({"ollama", "ollama_chat"})
"""How LiteLLM writes Ollama, by its two interfaces."""
_MILLION_CONTEXT: Final = "[1m]"
"""Claude Code writes this after a model that it uses with the long context. It is not part of the id."""
_BEDROCK: Final = re.compile(
    r"(?P<region>[a-z]{2,6}(?:-gov)?\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|writer|zai)\.[a-z0-9][\w.-]*(?::\d+(?::\w+)?)?",
    re.IGNORECASE,
)
_ROUTE: Final = re.compile(r"converse|invoke|(?!us-gov-)[a-z]{2}(?:-[a-z]+)+-\d")
"""What LiteLLM writes between `bedrock/` and a model's id: an interface, or a region with the listed prices."""
_ARN: Final = re.compile(
    r"arn:(?P<partition>[\w-]+):bedrock:[^/]*:(?P<kind>[\w-]+)/(?P<name>.+)", re.IGNORECASE
)
_NAMING: Final = frozenset({"foundation-model", "inference-profile"})
"""Kinds of Bedrock resources whose name contains the model; the others have ids of their own."""
_VERTEX: Final = re.compile(
    r"(?:.*locations/(?P<location>[\w-]+)/)?(?:publishers/[\w-]+/)?models/(?P<name>[^/]+)", re.IGNORECASE
)
_AT_VERTEX: Final = re.compile(r"claude-[\w.-]+@(?:\d{8}|latest|default)", re.IGNORECASE)
_OPENROUTER: Final = re.compile(
    r"[\w.-]+/[\w.-]+:(?:free|nitro|floor|online|thinking|extended|exacto|beta|batch)", re.IGNORECASE
)
"""Names of variants (https://openrouter.ai/docs/guides/routing/model-variants/overview). Some have prices of their own."""
_RELEASE: Final = re.compile(r"v?\d+k?|latest|default|preview|exp|instruct|it")
"""Words after the name of a model that name a release, a date or a length of context, and not another model."""
_SHORTEST_DATE: Final = 3
_FINE_TUNED: Final = "ft"
_OWNERS: Final = {
    f"{_FINE_TUNED}:": "openai",
    "text-embedding-3-": "openai",
    "text-embedding-ada-": "openai",
    "voyage-": "voyageai",
}
"""Owners of fine-tuned models, and of those that compute embeddings, by the beginning of their names. The catalogue has models
for chats."""
_SAME_EVERYWHERE: Final = ("gemini-1", "gemini-2", "claude-3", "claude-opus-4@", "claude-sonnet-4@")
"""Vertex AI models without a surcharge for regional endpoints, by the beginning of their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedName:
    """A provider of the price list, and a model as it may be listed there."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedName:
    """What a recorded model name states. `provider` is None if it states none; `listed` is ordered, the best first."""

    provider: str | None
    model: str
    listed: tuple[ListedName, ...]


def price_provider(written: str) -> str | None:
    """Return the price list's name of a provider, whatever tool wrote it. None if the list does not have it.

    The Vercel AI SDK adds the kind of model after a dot (`openai.chat`, `google.vertex.anthropic.messages`), so parts
    are removed from the end until the rest is a known name.
    """
    name = re.sub(r"[\s_]+", "-", written.strip().lower())
    while name not in _PROVIDERS and name not in _NOT_LISTED and "." in name:
        name = name.rpartition(".")[0]
    return _PROVIDERS.get(name)


def recorded_name(recorded: str) -> RecordedName:
    """Read a recorded model: `provider:model`, `provider/model`, a Bedrock or Vertex id, or a bare name."""
    text = recorded.strip()
    if text.lower().endswith(_MILLION_CONTEXT):
        text = text[: -len(_MILLION_CONTEXT)]
    provider, model = _split(text)
    return RecordedName(provider=provider, model=model, listed=tuple(dict.fromkeys(_listed(provider, model))))


def is_release(name: str, part: str) -> bool:
    """Return whether a name that contains this part of a listed one names a release of that model.

    `claude-opus-4-5@20251101` is one of `claude-opus-4-5`; `gemini-3.7-flash-lite` and `deepseek-r1:free` are other models.
    """
    if "ft" in re.split(r"[-.:]", part):  # a fine-tuned model has the names that its owner gave it
        return True
    before, _, after = name.partition(part)
    if before and before[-1] not in "./:":
        return False
    if (
        part[-1:].isalnum() and after[:1].isalnum()
    ):  # claude-sonnet-4-2025 and 0514, but not claude-opus-4-1 and 0
        number = re.sub(r".*\D", "", part) + re.sub(r"\D.*", "", after)
        if len(number) < _SHORTEST_DATE:
            return False
        after = after.lstrip("0123456789")
    return all(_RELEASE.fullmatch(word) for word in re.split(r"[-_.:@]", after) if word)


def with_dashes(name: str) -> str:
    """Return a model's name with a date at its end as OpenAI writes it: `gpt-5-2025-08-07` for `gpt-5-20250807`."""
    return re.sub(r"-(20\d\d)(\d\d)(\d\d)$", r"-\1-\2-\3", name)


def _split(text: str) -> tuple[str | None, str]:
    if _is_bedrock(text):
        return "aws", text
    if _OPENROUTER.fullmatch(text):
        return "openrouter", text
    provider, colon, model = text.partition(":")
    if colon and "/" not in provider and provider.lower() != _FINE_TUNED:
        return "ollama" if provider.lower() in _OLLAMA else provider, model
    first, slash, rest = text.partition("/")
    if slash and first.lower() in _OLLAMA:
        return "ollama", rest
    if slash and (price_provider(first) or first.lower() in _GATEWAYS):
        return first, rest
    return owner_of(text) or _other_owner_of(text), text


def _other_owner_of(name: str) -> str | None:
    return next((owner for start, owner in _OWNERS.items() if name.lower().startswith(start)), None)


def _listed(written: str | None, model: str) -> list[ListedName]:
    provider = price_provider(written) if written else None
    if _is_bedrock(model):
        name = _bedrock_name(model)
        return [ListedName(provider="aws", model=name)] if name else []
    found = []
    if provider == "aws" and "/" in model:
        *route, model = model.split("/")
        return _listed(written, model) if all(map(_ROUTE.fullmatch, route)) else []
    if provider == "google" and (path := _VERTEX.fullmatch(model)):
        location, model = path["location"], path["name"]
        if location not in {None, "global"} and not model.lower().startswith(_SAME_EVERYWHERE):
            return []
    if provider == "anthropic" and _AT_VERTEX.fullmatch(model):
        found.append(ListedName(provider="google", model=model))
    if provider:
        found.append(ListedName(provider=provider, model=model))
    first, slash, rest = model.partition("/")
    within = price_provider(first) if slash else None
    if within and (
        provider == within or (within in _HOSTS and provider != "openrouter") or _passes_on(written)
    ):
        found += _listed(first, rest)
    return found


def _passes_on(written: str | None) -> bool:
    return written is None or written.lower() in _GATEWAYS


def _is_bedrock(text: str) -> bool:
    return bool(_ARN.fullmatch(text) or _BEDROCK.fullmatch(text))


def _bedrock_name(text: str) -> str | None:
    """Return the id of the model. None if an ARN names none, or the prices of its partition are not listed."""
    arn = _ARN.fullmatch(text)
    if arn and (arn["kind"].lower() not in _NAMING or arn["partition"].lower() != "aws"):
        return None
    name = arn["name"] if arn else text
    return None if name.lower().startswith("us-gov.") else name
