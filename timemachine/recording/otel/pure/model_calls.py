"""The model call of a span: model, parameters, usage and cost."""

from decimal import Decimal, InvalidOperation
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.sessions.pure.draft import Usage

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
_REQUEST: Final = "gen_ai.request."
_USAGE: Final = {
    "input_tokens": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
    ),
    "total_tokens": ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache_write_tokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
}
_LANGFUSE_USAGE: Final = {
    "input_tokens": "input",
    "output_tokens": "output",
    "total_tokens": "total",
    "cached_tokens": "input_cached_tokens",
}


def model_of(attributes: Attributes) -> str | None:
    """Return `provider:model`, preferring the model that answered over the requested one; without a provider, the model alone."""
    model = attributes.text(
        "gen_ai.response.model",
        "gen_ai.request.model",
        "llm.model_name",
        "embedding.model_name",
        "reranker.model_name",
        "langfuse.observation.model.name",
        "mlflow.llm.model",
    )
    if model is None:
        return None
    provider = attributes.text(
        "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "mlflow.llm.provider"
    )
    if provider is None:
        return model
    provider = provider.strip().lower()
    provider = _PROVIDERS.get(provider, provider.replace(":", "_").replace(" ", "_"))
    return model if model.startswith(f"{provider}:") else f"{provider}:{model}"


def parameters_of(attributes: Attributes) -> JsonObject | None:
    """Return the parameters of the call, including tools and system instructions; None if not recorded."""
    given = attributes.value(
        "llm.invocation_parameters", "langfuse.observation.model.parameters", "mlflow.invocationParams"
    )
    found = dict(given) if isinstance(given, dict) else {}
    found |= {
        name.removeprefix(_REQUEST): value
        for name, value in attributes.values.items()
        if name.startswith(_REQUEST) and name != "gen_ai.request.model"
    }
    others = {
        "tools": attributes.value("gen_ai.tool.definitions", "mlflow.chat.tools")
        or attributes.listed("llm.tools"),
        "system_instructions": attributes.value("gen_ai.system_instructions"),
        "finish_reasons": attributes.value("gen_ai.response.finish_reasons", "llm.finish_reason"),
        "response_id": attributes.text("gen_ai.response.id"),
        "prompt_template": attributes.text("llm.prompt_template.template"),
    }
    found |= {name: value for name, value in others.items() if value not in (None, [], "")}
    return found or None


def usage_of(attributes: Attributes) -> Usage | None:
    """Return the tokens of the call; None if none were counted."""
    found = {name: attributes.whole_number(*names) for name, names in _USAGE.items()}
    details = attributes.value("langfuse.observation.usage_details")
    if isinstance(details, dict):
        counted = Attributes(details)
        found |= {
            name: counted.whole_number(key)
            for name, key in _LANGFUSE_USAGE.items()
            if found.get(name) is None
        }
    return Usage(**found) if any(count is not None for count in found.values()) else None


def cost_of(attributes: Attributes) -> Decimal | None:
    """Return the cost of the call in US dollars as reported by the sender; None if not reported."""
    reported = attributes.number("gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total")
    details = attributes.value("langfuse.observation.cost_details")
    if reported is None and isinstance(details, dict):
        reported = Attributes(details).number("total")
    try:
        cost = None if reported is None else round(Decimal(repr(reported)), 12)
    except InvalidOperation:
        return None
    return cost if cost is not None and cost >= 0 else None
