"""What models answer: which are offered, their tests, keys and servers; and the cache of their answers."""

from typing import Any, Final

from timemachine.api.answers.shape import Answers, Document, Page
from timemachine.llm.pure.listing import KeySource, State
from timemachine.llm.pure.listing import Kind as OfferKind


class ModelTest(Document):
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
    prices: dict[str, Any] | None


class ModelPrices(Document):
    model: str
    per_million_tokens: dict[str, float]


class ModelAnswered(Document):
    model: str
    at: str


class Offer(Document):
    provider: str
    kind: OfferKind
    model: str | None
    label: str
    usable: bool
    state: State
    why_not: str | None
    remark: str | None
    key: KeySource
    key_variable: str | None
    base_url: str | None
    prices: dict[str, Any] | None
    also_priced: list[ModelPrices]
    last_answer: ModelAnswered | None
    last_test: ModelTest | None


class Offers(Page):
    items: list[Offer]


class ProviderKey(Document):
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


class ProviderKeys(Page):
    items: list[ProviderKey]


class ModelServer(Document):
    name: str
    base_url: str
    default_model: str | None
    has_key: bool


class ModelServers(Page):
    items: list[ModelServer]


class ModelServerRemoved(Document):
    removed: str


class AnswerCache(Document):
    on: bool
    changed_by: str | None
    changed_at: str | None
    answers: int
    bytes: int
    most_bytes: int


class AnswerCacheEmptied(Document):
    removed: int


_KEY: Final = "/api/models/keys/{provider}"
ANSWERS: Final[Answers] = {
    ("get", "/api/models", 200): Offers,
    ("post", "/api/models/test", 200): ModelTest,
    ("get", "/api/models/keys", 200): ProviderKeys,
    **{(each, _KEY, 200): ProviderKey for each in ("get", "put", "delete")},
    ("get", "/api/models/servers", 200): ModelServers,
    ("post", "/api/models/servers", 201): ModelServer,
    ("delete", "/api/models/servers/{name}", 200): ModelServerRemoved,
    ("get", "/api/answer-cache", 200): AnswerCache,
    ("patch", "/api/answer-cache", 200): AnswerCache,
    ("delete", "/api/answer-cache", 200): AnswerCacheEmptied,
}
