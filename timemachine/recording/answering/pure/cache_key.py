"""The key under which an answer is cached: what makes two asks the same."""

import unicodedata
from dataclasses import asdict, dataclass

from timemachine.core.pure.content import canonical_json, sha256_hex


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAsk:
    """Everything that an answer depends on and that is known before the model is called.

    `base_url` is the model's server: two servers may have two models with one name. `passages` are the SHA-256 and
    title of each, in order. `adapter_version` is that of the code that talks to the provider.
    """

    provider: str
    model: str
    base_url: str
    adapter_version: int
    prompt_template: str
    system_prompt: str
    question: str
    passages: tuple[tuple[str, str], ...]
    temperature: float | None
    seed: int | None
    max_tokens: int | None


def cache_key(ask: SameAsk) -> str:
    """Return SHA-256 in hex over the canonical JSON of all parts; the question in Unicode NFC, everything else unchanged."""
    parts = asdict(ask) | {"question": unicodedata.normalize("NFC", ask.question)}
    if ask.temperature is not None:
        parts["temperature"] = float(ask.temperature)
    return sha256_hex(canonical_json(parts))
