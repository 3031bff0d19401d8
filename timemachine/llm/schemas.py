"""Models, keys, servers and calls as the API takes and returns them."""

from typing import Any, Final

from pydantic import Field, SecretStr

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.llm.models import ModelTrial
from timemachine.llm.offers import Offer
from timemachine.llm.pure.listing import KeySource, Kind, Listed, State


class UsageOut(Schema):
    """Tokens, null if not recorded."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None

    @classmethod
    def of(cls, row: object) -> "UsageOut | None":
        """Return the tokens of a step, which has columns of these names; None if none were recorded."""
        found = {name: getattr(row, name) for name in TOKENS}
        return UsageOut.model_construct(**found) if any(each is not None for each in found.values()) else None


TOKENS: Final = tuple(UsageOut.model_fields)


class CallUsageOut(UsageOut):
    """Tokens of one call, as stored with it."""

    cache_write_1h_tokens: int | None = 0  # absent in older calls


class FailureOut(Schema):
    """An error of a step or a model call: its class and its message."""

    type: str | None
    message: str | None

    @classmethod
    def of(cls, row: Any) -> "FailureOut":
        """Return the error that a row stores as `error_type` and `error_message`."""
        return cls.model_construct(type=row.error_type, message=row.error_message)


class CancelOut(Schema):
    """That a call of a model is to be cancelled."""

    id: str
    cancel_wanted: bool


class ProviderKeyIn(Strict):
    """A project's own key for a built-in provider, and which model the provider's name alone then means."""

    key: SecretStr
    default_model: str | None = None


class ModelServerIn(Strict):
    """An OpenAI-compatible server to add."""

    name: str
    base_url: str
    key: SecretStr | None = None
    default_model: str | None = None


class ModelTestIn(Strict):
    """A model to make one small call to."""

    model: str = Field(min_length=1)


class ModelTestOut(Schema):
    """A test call to a model. `ok` is null while it runs; `words` is the beginning of the answer, or what went wrong."""

    model: str
    ok: bool | None
    error: str | None
    words: str
    by: str
    at: str
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    prices: JsonObject | None

    @classmethod
    def of(cls, trial: ModelTrial) -> "ModelTestOut":
        ok = None if trial.ended_at is None else trial.error_code is None
        return cls.from_attributes(trial, ok=ok, error=trial.error_code, at=trial.started_at)


class ModelPrices(Schema):
    """The operator's prices for a model, in US dollars per million tokens."""

    model: str
    per_million_tokens: dict[str, float]


class LastAnswerOut(Schema):
    """Which model of a provider answered last, and when."""

    model: str
    at: str


class OfferOut(Schema):
    """A model that the project can choose: `model` is the default model of its name, `prices` are today's, null if unknown.

    `usable` says whether it can be called here. `state` says whether it works, as far as is known, and `remark` why not, or what else
    to know. `also_priced` are the operator's prices for other models of the provider.
    """

    provider: str
    kind: Kind
    model: str | None
    label: str
    usable: bool
    state: State
    why_not: str | None
    remark: str | None
    key: KeySource
    key_variable: str | None
    base_url: str | None
    prices: JsonObject | None
    also_priced: list[ModelPrices]
    last_answer: LastAnswerOut | None
    last_test: ModelTestOut | None

    @classmethod
    def of(cls, offer: Offer) -> "OfferOut":
        found = offer.listed
        return cls.from_attributes(
            found,
            model=found.model and str(found.model),
            usable=found.why_not is None,
            state=offer.state,
            remark=offer.remark,
            key=found.key_source,
            prices=offer.prices,
            also_priced=[
                ModelPrices.model_construct(
                    model=each.model,
                    per_million_tokens={
                        name: float(price) for name, price in each.per_million_tokens.items()
                    },
                )
                for each in offer.also_priced
            ],
            last_answer=offer.answered,
            last_test=offer.trial and ModelTestOut.of(offer.trial),
        )


class OfferPage(Page[OfferOut]):
    """The models that the project can choose."""


class ProviderKeyOut(Schema):
    """Where a provider's key comes from, never the key. The fields from `last_four` to `readable` are about the project's own key."""

    provider: str
    source: KeySource
    set: bool
    last_four: str | None
    default_model: str | None
    set_by: str | None
    set_at: str | None
    readable: bool | None
    variable: str | None
    base_url: str | None

    @classmethod
    def of(cls, found: Listed) -> "ProviderKeyOut":
        own = found.own_key
        return cls.model_construct(
            provider=found.provider,
            source=found.key_source,
            set=own is not None,
            last_four=own.last_four or None if own else None,
            default_model=own.default_model if own else None,
            set_by=own.set_by if own else None,
            set_at=written(own.set_at) if own else None,
            readable=own.readable if own else None,
            variable=found.key_variable,
            base_url=found.base_url,
        )


class ProviderKeyPage(Page[ProviderKeyOut]):
    """The built-in providers that take a key."""


class ModelServerOut(Schema):
    """An OpenAI-compatible server of the project, without its key."""

    name: str
    base_url: str
    default_model: str | None
    has_key: bool


class ModelServerPage(Page[ModelServerOut]):
    """The project's own servers."""


class ModelServerRemoved(Schema):
    """The name of the server that was removed."""

    removed: str
