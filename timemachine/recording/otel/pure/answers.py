"""What the answer of the provider states, where a span has it: the counts of the provider and what changes the price.

Sources: `ai.response.providerMetadata` of Vercel's AI SDK, `output.value` of OpenInference, `response_data` of Logfire,
`mlflow.spanOutputs`, `langfuse.observation.output`, and `gcp.vertex.agent.llm_response` of Google's ADK.
"""

import re
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.kinds import ai_sdk_operation
from timemachine.recording.otel.pure.usage_buckets import CACHE_WRITE_1H
from timemachine.recording.sessions.pure.draft import Usage

_ANSWERS: Final = (
    "output.value",
    "response_data",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
    "gcp.vertex.agent.llm_response",
)
_STATES_USAGE: Final = re.compile("usage|service_?tier", re.IGNORECASE)
"""Other answers are not parsed again."""
_METADATA: Final = "ai.response.providerMetadata"
_ANTHROPIC: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
_GOOGLE: Final = {
    "input_tokens": "prompt_token_count",
    "output_tokens": "candidates_token_count",
    "total_tokens": "total_token_count",
    "cached_tokens": "cached_content_token_count",
    "reasoning_tokens": "thoughts_token_count",
}
_AUDIO: Final = {
    "prompt_tokens_details": (
        "llm.token_count.prompt_details.audio",
        "gen_ai.usage.details.input_audio_tokens",
        "input_audio_tokens",
        "input_audio",
    ),
    "completion_tokens_details": (
        "llm.token_count.completion_details.audio",
        "gen_ai.usage.details.output_audio_tokens",
        "output_audio_tokens",
        "output_audio",
    ),
}
_BEDROCK: Final = "amazon-bedrock"
_OF_BEDROCK: Final = {
    "input_tokens": ("ai.usage.inputTokens", "ai.usage.promptTokens"),
    "cached_tokens": ("cacheReadInputTokens", "ai.usage.cachedInputTokens"),
    "cache_write_tokens": ("cacheWriteInputTokens",),
}
_OF_VERSION_6: Final = "ai.usage.inputTokenDetails.noCacheTokens"
_TEXT_CALLS: Final = frozenset({"ai.generateText.doGenerate", "ai.streamText.doStream"})
_OF_ANTHROPIC: Final = "anthropic.usage"
_COMPACTION: Final = ("anthropic.usage.compaction.input_tokens", "anthropic.usage.compaction.output_tokens")
"""Tokens of the compaction of a context, which the other counts leave out."""


def provider_metadata(attributes: Attributes) -> JsonObject:
    """Return what providers stated through Vercel's AI SDK, by provider."""
    return _object(attributes.value(_METADATA))


def provider_usage(attributes: Attributes) -> Usage | None:
    """Return the tokens as Anthropic, Google or Amazon Bedrock counted them, whatever an instrumentation made of them; None if
    they are not recorded.

    Anthropic and Bedrock leave cached tokens out of their input, Google leaves thoughts out of its output.
    """
    anthropic = [_object(provider_metadata(attributes).get("anthropic")), *_answers(attributes)]
    for usage in (_object(each.get("usage")) for each in anthropic):
        if "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
            found = _counted(usage, _ANTHROPIC)
            if found.input_tokens is not None:
                return _with_cached(found)
    for usage in (_object(each.get("usage_metadata")) for each in _answers(attributes)):
        found = _counted(usage, _GOOGLE)
        if found.input_tokens is not None and found.output_tokens is not None:
            return replace(found, output_tokens=found.output_tokens + (found.reasoning_tokens or 0))
    return _bedrock_usage(attributes)


def _bedrock_usage(attributes: Attributes) -> Usage | None:
    """Return what version 5 of Vercel's AI SDK passes on of Bedrock's counts, and what only the metadata has. Later versions add
    the cached tokens to the input."""
    provider = attributes.text("ai.model.provider") or ""
    is_text = ai_sdk_operation(attributes) in _TEXT_CALLS
    if not is_text or not provider.startswith(_BEDROCK) or attributes.number(_OF_VERSION_6) is not None:
        return None
    stated = _object(_object(provider_metadata(attributes).get("bedrock")).get("usage"))
    counts = Attributes({**attributes.values, **stated})
    found = Usage(**{name: counts.whole_number(*names) for name, names in _OF_BEDROCK.items()})
    return None if found.input_tokens is None else _with_cached(found)


def _with_cached(usage: Usage) -> Usage:
    cached = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    return replace(usage, input_tokens=(usage.input_tokens or 0) + cached)


def stated_by_answer(attributes: Attributes) -> list[JsonObject]:
    """Return the records in which conditions of the price can be stated, the most reliable first."""
    own = attributes.nested(_OF_ANTHROPIC)
    buckets = Attributes(_object(attributes.value("langfuse.observation.usage_details")))
    for_an_hour = buckets.whole_number(*CACHE_WRITE_1H)
    records: list[JsonObject] = [
        *_answers(attributes),
        *(_object(each) for each in provider_metadata(attributes).values()),
        own,
        {"server_tool_use": attributes.nested("gen_ai.usage.server_tool_use")},
        {} if for_an_hour is None else {"cache_creation": {"ephemeral_1h_input_tokens": for_an_hour}},
        _audio(Attributes({**buckets.values, **attributes.values})),
        dict(buckets.values),
        dict(attributes.values),
    ]
    if any(attributes.whole_number(name) for name in _COMPACTION):
        records.insert(0, {"iterations": [{"type": "compaction"}]})
    return records


def _audio(counts: Attributes) -> JsonObject:
    """Return the tokens of sound that were stated, as OpenAI writes them."""
    found = {name: counts.whole_number(*names) for name, names in _AUDIO.items()}
    return {name: {"audio_tokens": count} for name, count in found.items() if count}


def _answers(attributes: Attributes) -> list[JsonObject]:
    named = [name for name in _ANSWERS if _STATES_USAGE.search(str(attributes.first(name) or ""))]
    return [found for name in named if (found := _object(attributes.value(name)))]


def _counted(usage: JsonObject, names: dict[str, str]) -> Usage:
    counts = Attributes(usage)
    return Usage(**{name: counts.whole_number(key) for name, key in names.items()})


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}
