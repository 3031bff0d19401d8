"""Token counts of a model call in our names, from those of providers and their Python libraries."""

from collections.abc import Callable, Mapping
from typing import Any, Final

TOKENS: Final = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
    }
)
_MOST: Final = 10**12
type _Usage = Mapping[str, Any]


def fields_of(given: Any) -> Any:
    """The fields of an object of a provider's library; an object without fields is returned unchanged."""
    for name in ("model_dump", "to_dict", "dict", "_asdict"):
        method = getattr(given, name, None)
        if callable(method) and not isinstance(given, type):
            try:
                found = method()
            except Exception:  # noqa: BLE001, S112  # code of the application; try the next form
                continue
            if isinstance(found, Mapping):
                return dict(found)
    if isinstance(given, Mapping):
        return dict(given)
    slots = getattr(type(given), "__slots__", ())
    names = [*getattr(given, "__dict__", ()), *([slots] if isinstance(slots, str) else slots)]
    held = {name: getattr(given, name, None) for name in names if not name.startswith("_")}
    return held or given


def counts(given: Any) -> dict[str, int]:
    """The counts with known names; unknown ones are left out, not guessed."""
    if not isinstance(given, Mapping):
        return {}
    found = _reader_of(given)(given)
    return {name: value for name, value in found.items() if value is not None}


def _reader_of(given: _Usage) -> Callable[[_Usage], dict[str, int | None]]:
    for names, reader in _READERS:
        if not names.isdisjoint(given):
            return reader
    return _ours


def _anthropic(given: _Usage) -> dict[str, int | None]:
    """Its input tokens leave out what was read from and written to the cache."""
    fresh, written = _count(given, "input_tokens"), _count(given, "output_tokens")
    cached, stored = _count(given, "cache_read_input_tokens"), _count(given, "cache_creation_input_tokens")
    read = None if fresh is None else fresh + (cached or 0) + (stored or 0)
    return {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": None if read is None or written is None else read + written,
        "cached_tokens": cached,
        "cache_write_tokens": stored,
        "reasoning_tokens": _count(_part(given, "output_tokens_details"), "thinking_tokens"),
    }


def _chat(given: _Usage) -> dict[str, int | None]:
    """Chat completions; where a server leaves reasoning out of the completion, the total says what was written.

    Cache counts next to them, as LiteLLM has for Anthropic, are included in the prompt.
    """
    read, written = _count(given, "prompt_tokens"), _count(given, "completion_tokens")
    cached = _count(_part(given, "prompt_tokens_details"), "cached_tokens")
    total = _count(given, "total_tokens")
    if read is not None and written is not None and total is not None:
        written = max(written, total - read)
    return {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": total,
        "cached_tokens": _count(given, "cache_read_input_tokens") if cached is None else cached,
        "cache_write_tokens": _count(given, "cache_creation_input_tokens"),
        "reasoning_tokens": _count(_part(given, "completion_tokens_details"), "reasoning_tokens"),
    }


def _gemini(given: _Usage) -> dict[str, int | None]:
    """Reasoning tokens are separate from output tokens, and billed with them."""
    read = _count(given, "prompt_token_count", "promptTokenCount")
    candidates = _count(given, "candidates_token_count", "candidatesTokenCount")
    thought = _count(given, "thoughts_token_count", "thoughtsTokenCount")
    return {
        "input_tokens": read,
        "output_tokens": None
        if candidates is None and thought is None
        else (candidates or 0) + (thought or 0),
        "total_tokens": _count(given, "total_token_count", "totalTokenCount"),
        "cached_tokens": _count(given, "cached_content_token_count", "cachedContentTokenCount"),
        "reasoning_tokens": thought,
    }


def _ollama(given: _Usage) -> dict[str, int | None]:
    return {"input_tokens": _count(given, "prompt_eval_count"), "output_tokens": _count(given, "eval_count")}


def _ours(given: _Usage) -> dict[str, int | None]:
    """Our own names, and the details of the Responses API and LangChain."""
    read = {**_part(given, "input_tokens_details"), **_part(given, "input_token_details")}
    written = {**_part(given, "output_tokens_details"), **_part(given, "output_token_details")}
    details = {
        "cached_tokens": _count(read, "cached_tokens", "cache_read"),
        "cache_write_tokens": _count(read, "cache_creation"),
        "reasoning_tokens": _count(written, "reasoning_tokens", "reasoning"),
    }
    own = {name: _count(given, name) for name in TOKENS if given.get(name) is not None}
    return {**details, **own}


_READERS: Final[tuple[tuple[frozenset[str], Callable[[_Usage], dict[str, int | None]]], ...]] = (
    (frozenset({"prompt_tokens", "completion_tokens"}), _chat),
    (frozenset({"cache_read_input_tokens", "cache_creation_input_tokens"}), _anthropic),
    (
        frozenset(
            {"prompt_token_count", "candidates_token_count", "promptTokenCount", "candidatesTokenCount"}
        ),
        _gemini,
    ),
    (frozenset({"prompt_eval_count", "eval_count"}), _ollama),
)
"""The first reader with a matching name applies."""


def _count(given: _Usage, *names: str) -> int | None:
    """The integer of the first of these names that exists."""
    for name in names:
        value = given.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST:
            return value
    return None


def _part(given: _Usage, name: str) -> _Usage:
    value = given.get(name)
    return value if isinstance(value, Mapping) else {}
