"""What a call's usage states that changes its price: service tier, speed, region of inference, searches.

Importers call `price_conditions` or `with_conditions` with the answers and usages that were recorded and keep the result in
the `parameters` of the step; `Conditions.of` reads it there. Sources: `usage` of Anthropic's Messages API
(https://platform.claude.com/docs/en/api/messages), `service_tier` and the built-in tools of OpenAI's responses
(https://platform.openai.com/docs/api-reference/responses/object), `trafficType` of Vertex AI's `usageMetadata`,
`serviceTier` of Amazon Bedrock's Converse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.usage import count, part_of, text_of

CACHED_FOR_AN_HOUR: Final = "cache_write_1h_tokens"
WEB_SEARCHES: Final = "web_search_requests"
AUDIO_READ: Final = "audio_input_tokens"
AUDIO_WRITTEN: Final = "audio_output_tokens"
"""Parts of the input and of the output that were sound, which have prices of their own."""
EXTRAS: Final = "billed_extras"
"""Names of things that are billed in addition and that no price is known for."""
BATCH: Final = "batch"

_TIER_KEYS: Final = (
    "service_tier",
    "serviceTier",
    "gen_ai.response.service_tier",
    "openai.response.service_tier",
    "anthropic.response.service_tier",
    "gen_ai.openai.response.service_tier",
    "openai.request.service_tier",
    "gen_ai.openai.request.service_tier",
    "trafficType",
    "traffic_type",
)
_TIERS: Final = {"on_demand_priority": "priority", "on_demand_flex": "flex"}
_STANDARD: Final[Mapping[str, frozenset[str]]] = {
    "service_tier": frozenset({"standard", "standard_only", "default", "auto", "on_demand"}),
    "speed": frozenset({"standard", "normal"}),
    "inference_geo": frozenset({"global", "not_available", "unknown"}),
}
_FREE_TOOLS: Final = frozenset({WEB_SEARCHES, "web_fetch_requests", "tool_search_requests"})
"""Web searches are priced on their own; fetching pages and finding tools cost only their tokens."""
_MESSAGE: Final = "message"
_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})
_USAGES: Final = ("usage", "usageMetadata", "usage_metadata")
"""Where an answer has its usage."""
_PROMPT_DETAILS: Final = (
    "prompt_tokens_details",
    "input_tokens_details",
    "input_token_details",
    "promptTokensDetails",
)
_ANSWER_DETAILS: Final = (
    "completion_tokens_details",
    "output_tokens_details",
    "output_token_details",
    "candidatesTokensDetails",
    "candidates_tokens_details",
)
"""Where OpenAI and Google have the parts of the counts: an object, or a list with one for each modality."""
_READ: Final = frozenset(
    {
        *_TIER_KEYS,
        *_PROMPT_DETAILS,
        *_ANSWER_DETAILS,
        "speed",
        "inference_geo",
        "cache_creation",
        "server_tool_use",
        "output",
        "tools",
        "iterations",
    }
)
"""Every field of an answer or a usage that can state a condition."""
_SEARCH: Final = "web_search_call"
_SEARCH_TOOL: Final = "web_search"
_SEARCH_PREVIEW: Final = "web_search_preview"
"""An earlier tool for searches with other prices; both write the same items."""
_BILLED_ITEMS: Final = frozenset({"file_search_call", "code_interpreter_call", "image_generation_call"})
"""Items in the output of OpenAI's responses that cost more than their tokens."""

BATCH_FACTOR: Final = Decimal("0.5")
"""Anthropic's Message Batches cost half of all token prices since they exist
(https://platform.claude.com/docs/en/build-with-claude/batch-processing#pricing); the price list has it only from a day on."""
US_ONLY_FACTOR: Final = Decimal("1.1")
"""Inference in the US only costs 1.1 times all token prices, from Claude Opus 4.6 on; earlier models cost the same
(https://platform.claude.com/docs/en/about-claude/pricing#data-residency-pricing)."""
_BEFORE_OPUS_4_6: Final = (
    "claude-v",
    "claude-2",
    "claude-3",
    "claude-haiku-4",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-5",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What changes the price of a call; None and 0 where nothing was stated, or only what is the standard."""

    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    web_searches: int = 0
    audio_read: int = 0
    audio_written: int = 0
    extras: tuple[str, ...] = ()

    @classmethod
    def of(cls, parameters: Mapping[str, Any] | None) -> Self:
        """Read the conditions from the parameters of a step."""
        found = parameters or {}
        extras = found.get(EXTRAS)
        return cls(
            service_tier=_tier(found),
            speed=_unusual(found, "speed"),
            inference_geo=_unusual(found, "inference_geo"),
            web_searches=count(found, WEB_SEARCHES) or 0,
            audio_read=count(found, AUDIO_READ) or 0,
            audio_written=count(found, AUDIO_WRITTEN) or 0,
            extras=tuple(str(each) for each in extras) if isinstance(extras, list) else (),
        )

    @property
    def context(self) -> Mapping[str, str]:
        """The conditions that the price list knows, in its words."""
        tier = None if self.service_tier is None else ("service_tier", self.service_tier)
        if self.service_tier == BATCH:
            tier = ("processing", BATCH)
        speed = None if self.speed is None else ("speed", self.speed)
        return dict(each for each in (tier, speed) if each)

    @property
    def words(self) -> str:
        """The conditions as they were stated, such as `speed=fast, inference_geo=us`. Empty if there are none."""
        return ", ".join(f"{name}={value}" for name, value in self._stated.items())

    @property
    def names(self) -> str:
        """The names of the conditions, such as `speed, inference_geo`: nothing of what a sender wrote."""
        return ", ".join(self._stated)

    @property
    def _stated(self) -> Mapping[str, object]:
        found = {
            "service_tier": self.service_tier,
            "speed": self.speed,
            "inference_geo": self.inference_geo,
            WEB_SEARCHES: self.web_searches,
            AUDIO_READ: self.audio_read,
            AUDIO_WRITTEN: self.audio_written,
            EXTRAS: " and ".join(self.extras),
        }
        return {name: value for name, value in found.items() if value}


NONE: Final = Conditions()


def price_conditions(*stated: Any) -> JsonObject:
    """Return what recorded answers or usages state that changes the price, to be kept in the `parameters` of the step.

    The keys are `service_tier`, `speed`, `inference_geo`, `cache_write_1h_tokens`, `web_search_requests`,
    `audio_input_tokens`, `audio_output_tokens` and `billed_extras`. What is the standard is left out, so the result is empty for most calls. Accepts any JSON. If
    several state the same, the first one counts.
    """
    return _conditions(_merged(stated))


def _conditions(found: Mapping[str, Any]) -> JsonObject:
    tools = part_of(found.get("server_tool_use"))
    items, offered = _kinds(found, "output"), _kinds(found, "tools")
    is_listed = any(each.startswith(_SEARCH_TOOL) for each in offered) and not any(
        each.startswith(_SEARCH_PREVIEW) for each in offered
    )
    billed = _BILLED_ITEMS if is_listed else _BILLED_ITEMS | {_SEARCH}
    extras = [name for name in tools if name not in _FREE_TOOLS and count(tools, name)]
    extras += [kind for kind in dict.fromkeys(items) if kind in billed]
    conditions: JsonObject = {
        "service_tier": _tier(found),
        "speed": _unusual(found, "speed"),
        "inference_geo": _unusual(found, "inference_geo"),
        CACHED_FOR_AN_HOUR: count(part_of(found.get("cache_creation")), "ephemeral_1h_input_tokens"),
        WEB_SEARCHES: count(tools, WEB_SEARCHES) or (items.count(_SEARCH) if is_listed else 0),
        AUDIO_READ: _audio(found, _PROMPT_DETAILS),
        AUDIO_WRITTEN: _audio(found, _ANSWER_DETAILS),
        EXTRAS: [*extras, *_other_iterations(found)],
    }
    return {name: value for name, value in conditions.items() if value}


def with_conditions(parameters: Mapping[str, Any], *stated: Any) -> JsonObject:
    """Return the parameters of a call with what its answers or usages state that changes the price. Where they differ from what
    was requested, they count."""
    found = _merged(stated)
    if not found:
        return dict(parameters)
    asked = Conditions.of(parameters)
    used = {"service_tier": _stated_tier(found)}
    used |= {name: _text(found, name) for name in ("speed", "inference_geo")}
    corrected = {
        name: value for name, value in used.items() if value and getattr(asked, name) not in {None, value}
    }
    return {**parameters, **corrected, **_conditions(found)}


def us_only_factor(model: str) -> Decimal:
    """Return what token prices of a model of Anthropic, as listed, are multiplied with if `inference_geo` is `us`."""
    return Decimal(1) if model.startswith(_BEFORE_OPUS_4_6) else US_ONLY_FACTOR


def _merged(stated: Sequence[Any]) -> JsonObject:
    """Return the fields in `_READ` of all records and of the usages in them; the first record that has a field counts."""
    found: JsonObject = {}
    for record in map(part_of, stated):
        for fields in (*(part_of(record[name]) for name in _USAGES if name in record), record):
            for name in _READ.intersection(fields):
                if name not in found and fields[name] not in _NOTHING:
                    found[name] = fields[name]
    return found


def _kinds(found: Mapping[str, Any], name: str) -> list[str]:
    """Return the types of the objects in a list of the answer: of its `output` items, or of the `tools` it could use."""
    listed = found.get(name)
    kinds = [part_of(each).get("type") for each in listed] if isinstance(listed, list) else []
    return [kind for kind in kinds if isinstance(kind, str)]


def _audio(found: Mapping[str, Any], names: Sequence[str]) -> int:
    """Return the tokens of sound in the details of the input or the output."""
    details = next((found[name] for name in names if found.get(name)), None)
    if not isinstance(details, list):
        return count(part_of(details), "audio_tokens") or 0
    parts = [part_of(each) for each in details]
    spoken = [each for each in parts if str(each.get("modality")).upper() == "AUDIO"]
    return sum(count(each, "tokenCount") or count(each, "token_count") or 0 for each in spoken)


def _tier(found: Mapping[str, Any]) -> str | None:
    name = _stated_tier(found)
    return None if name in _STANDARD["service_tier"] else name


def _stated_tier(found: Mapping[str, Any]) -> str | None:
    if found.keys().isdisjoint(_TIER_KEYS):  # as of most calls
        return None
    for key in _TIER_KEYS:
        value = found.get(key)
        written = text_of(part_of(value).get("type")) or text_of(value)
        if written is not None:
            return _TIERS.get(written.lower(), written.lower())
    return None


def _unusual(found: Mapping[str, Any], name: str) -> str | None:
    value = _text(found, name)
    return None if value in _STANDARD[name] else value


def _text(found: Mapping[str, Any], name: str) -> str | None:
    value = text_of(found.get(name))
    return None if value is None else value.lower()


def _other_iterations(found: Mapping[str, Any]) -> list[str]:
    """Name the iterations that the token counts of the usage leave out: compaction, and the models of advisors."""
    iterations = found.get("iterations")
    kinds = [part_of(each).get("type") for each in iterations] if isinstance(iterations, list) else []
    return list(dict.fromkeys(f"{kind} iteration" for kind in kinds if text_of(kind) not in {None, _MESSAGE}))
