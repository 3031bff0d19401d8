"""What makes two asks the same ask: the key under which an answer is kept. Pure."""

import unicodedata
from dataclasses import dataclass

from timemachine.core.pure.content import canonical_json, sha256_hex


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAsk:
    """Everything that an answer depends on and that is known before the model is called.

    `base_url` is where the model is called: two servers may serve two models under one name. `passages` are the SHA-256 and
    the title of each, in their order. `adapter_version` is of the code that speaks to the provider.
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
    """SHA-256, in hex, over canonical JSON of all parts; the question in Unicode's form NFC, everything else as it is."""
    return sha256_hex(
        canonical_json(
            {
                "provider": ask.provider,
                "model": ask.model,
                "base_url": ask.base_url,
                "adapter_version": ask.adapter_version,
                "prompt_template": ask.prompt_template,
                "system_prompt": ask.system_prompt,
                "question": unicodedata.normalize("NFC", ask.question),
                "passages": ask.passages,
                "temperature": None if ask.temperature is None else float(ask.temperature),
                "seed": ask.seed,
                "max_tokens": ask.max_tokens,
            }
        )
    )
