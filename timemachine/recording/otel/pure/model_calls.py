"""The model call of a span: model, parameters, usage and cost."""

from dataclasses import asdict, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import price_conditions, with_conditions
from timemachine.llm.pure.usage import part_of
from timemachine.recording.otel.pure.answers import provider_metadata, provider_usage, stated_by_answer
from timemachine.recording.otel.pure.attributes import Attributes, parsed_json
from timemachine.recording.otel.pure.kinds import EMBEDDINGS, is_embedding
from timemachine.recording.otel.pure.providers import provider_of
from timemachine.recording.otel.pure.usage_buckets import cost_of_buckets, usage_of_buckets
from timemachine.recording.sessions.pure.draft import Usage
from timemachine.recording.sessions.pure.validation import HIGHEST_COST
from timemachine.recording.sessions.pure.vocabulary import OPERATION

_REQUEST: Final = "gen_ai.request."
_SETTINGS: Final = "ai.settings."
_USAGE: Final = {
    "input_tokens": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.aggregated_usage.input_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
        "ai.usage.tokens",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "gen_ai.aggregated_usage.output_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ),
    "total_tokens": (
        "gen_ai.usage.total_tokens",
        "llm.token_count.total",
        "llm.usage.total_tokens",
        "ai.usage.totalTokens",
    ),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "gen_ai.usage.details.cached_tokens",
        "gen_ai.aggregated_usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.inputTokenDetails.cacheReadTokens",
        "ai.usage.cachedInputTokens",
    ),
    "cache_write_tokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "gen_ai.aggregated_usage.cache_creation.input_tokens",
        "llm.token_count.prompt_details.cache_write",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "gen_ai.usage.experimental.reasoning_tokens",
        "llm.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
        "ai.usage.outputTokenDetails.reasoningTokens",
        "ai.usage.reasoningTokens",
    ),
}
_COUNTS_CACHED_APART: Final = frozenset({"opentelemetry.instrumentation.bedrock"})
"""Instrumentations that pass on the input of Amazon Bedrock, which leaves out cached tokens, by the names of their scopes."""
_COST: Final = (
    "gen_ai.usage.cost",
    "gen_ai.usage.total_cost",
    "gen_ai.cost.total_cost",
    "llm.cost.total",
    "operation.cost",
)
_PARTS_OF_COST: Final = (
    ("llm.cost.prompt", "llm.cost.completion"),
    ("gen_ai.cost.input_cost", "gen_ai.cost.output_cost"),
)
"""Costs of the input and the output, which are the cost together."""
_USAGE_OBJECTS: Final = ("langfuse.observation.usage_details", "mlflow.chat.tokenUsage")
_COST_OBJECTS: Final = ("langfuse.observation.cost_details", "mlflow.llm.cost")


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
        "ai.response.model",
        "ai.model.id",
        "model_name",
    )
    if model is None:
        return None
    provider = provider_of(attributes)
    if provider is None:
        return model
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
    found |= {
        name.removeprefix(_SETTINGS): value
        for name, value in attributes.values.items()
        if name.startswith(_SETTINGS)
    }
    found |= settings_of(attributes)
    others = {
        OPERATION: EMBEDDINGS if is_embedding(attributes) else None,
        "finish_reasons": attributes.value(
            "gen_ai.response.finish_reasons", "llm.finish_reason", "ai.response.finishReason"
        ),
        "response_id": attributes.text("gen_ai.response.id", "ai.response.id"),
        "prompt_template": attributes.text("llm.prompt_template.template"),
    }
    found |= {name: value for name, value in others.items() if value not in (None, [], "")}
    return with_conditions(found, *stated_by_answer(attributes)) or None


def settings_of(attributes: Attributes) -> JsonObject:
    """Return the tools and the system instructions that a call states, or an agent for its calls."""
    stated = {
        "tools": attributes.value("gen_ai.tool.definitions", "mlflow.chat.tools")
        or attributes.listed("llm.tools")
        or _parsed(attributes.first("ai.prompt.tools")),
        "system_instructions": attributes.value("gen_ai.system_instructions"),
    }
    return {name: value for name, value in stated.items() if value not in (None, [], "")}


def conditions_of(attributes: Attributes) -> JsonObject | None:
    """Return what changes the price of the calls around which a span is; None if nothing does."""
    return price_conditions(*stated_by_answer(attributes)) or None


def usage_of(attributes: Attributes, *, is_call: bool = True, scope: Any = None) -> Usage | None:
    """Return the tokens of a call, or the sums of a span around calls, with cached tokens in the input; None if none were
    counted. `scope` is the name of the instrumentation, if known.

    The provider's own counts of a call precede those of the sender. A sender that counts more cached tokens than input
    leaves them out. Nothing but zeros means that nobody counted: a call reads at least one token.
    """
    found = Usage(**{name: attributes.whole_number(*names) for name, names in _USAGE.items()})
    details = next(
        (each for name in _USAGE_OBJECTS if isinstance(each := attributes.value(name), dict)), None
    )
    if details is not None and found.input_tokens is None and found.output_tokens is None:
        found = usage_of_buckets(details) or found
    if found.input_tokens is None and is_embedding(attributes):  # nothing is written, so the total was read
        found = replace(found, input_tokens=found.total_tokens)
    own = provider_usage(attributes) if is_call else None
    if own is not None:
        stated = {name: count for name, count in asdict(own).items() if count is not None}
        found = replace(found, **{"total_tokens": None, **stated})
    if not any(asdict(found).values()):
        return None
    return with_cached_input(_with_reasoning(found), is_apart=own is None and scope in _COUNTS_CACHED_APART)


def _with_reasoning(usage: Usage) -> Usage:
    """Return the usage; if the total or the counts show that the output does not include reasoning yet, it does."""
    read, written, thought = usage.input_tokens or 0, usage.output_tokens, usage.reasoning_tokens
    if written is None or not thought:
        return usage
    is_apart = thought > written or usage.total_tokens == read + written + thought
    return replace(usage, output_tokens=written + thought) if is_apart else usage


def with_cached_input(usage: Usage, *, is_apart: bool = False) -> Usage:
    """Return the usage with cached tokens in its input. If more were cached than read, or the total shows it, they are not
    in it yet."""
    if usage.input_tokens is None:
        return usage
    cached = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    whole = usage.input_tokens + cached
    is_apart = (
        is_apart or cached > usage.input_tokens or usage.total_tokens == whole + (usage.output_tokens or 0)
    )
    return replace(usage, input_tokens=whole) if is_apart else usage


def cost_of(attributes: Attributes) -> Decimal | None:
    """Return the cost of the call in US dollars as reported by the sender; None if not reported."""
    reported = attributes.number(*_COST)
    if reported is None:
        reported = _cost_of_parts(attributes)
    objects = (attributes.value(name) for name in _COST_OBJECTS)
    details = next((each for each in objects if isinstance(each, dict)), None)
    if reported is None and details is not None:
        reported = cost_of_buckets(details)
    if reported is None:
        reported = _ai_sdk_cost(attributes)
    try:
        cost = None if reported is None else round(Decimal(repr(reported)), 12)
    except InvalidOperation:
        return None
    return cost if cost is not None and 0 <= cost <= HIGHEST_COST else None


def _cost_of_parts(attributes: Attributes) -> float | int | None:
    for names in _PARTS_OF_COST:
        read, written = (attributes.number(name) for name in names)
        if read is not None and written is not None:
            return read + written
    return None


def _ai_sdk_cost(attributes: Attributes) -> float | int | None:
    """Return the cost that OpenRouter or Vercel's AI Gateway reports through Vercel's AI SDK."""
    stated = provider_metadata(attributes)
    records = (part_of(part_of(stated.get("openrouter")).get("usage")), part_of(stated.get("gateway")))
    return next((cost for each in records if (cost := Attributes(each).number("cost")) is not None), None)


def _parsed(value: Any) -> Any:
    return [parsed_json(each) for each in value] if isinstance(value, list) else parsed_json(value)
