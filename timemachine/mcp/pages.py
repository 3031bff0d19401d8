"""Pages of an answer: the cursor of the API and how many items of its page were already given."""

from collections.abc import Callable, Sequence
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Refused
from timemachine.mcp.pure.fitting import filled

_MOST_DIGITS: Final = 6


def place_of(after: str | None) -> tuple[int, str | None]:
    """Return how many items of a page of the API to leave out, and its cursor. Raises `Refused`."""
    if after is None:
        return 0, None
    skip, colon, cursor = after.partition(":")
    if not colon or not (skip.isascii() and skip.isdigit()) or len(skip) > _MOST_DIGITS:
        raise Refused("`after` must be the `next` of a previous answer. Leave it out for the first page.")
    return int(skip), cursor or None


def page(
    head: JsonObject,
    name: str,
    items: Sequence[JsonObject],
    *,
    after: str | None,
    following: str | None,
    limit: int,
) -> JsonObject:
    """Return the head with the items of an API page that were not given yet, as many as fit, and `next` if there are more.

    `following` is the API's cursor of its next page.
    """
    skip, cursor = place_of(after)
    return filled(_builder(head, name, len(items), skip, cursor, following), items[skip:], limit)


def _builder(
    head: JsonObject, name: str, number: int, skip: int, cursor: str | None, following: str | None
) -> Callable[[list[JsonObject]], JsonObject]:
    def build(kept: list[JsonObject]) -> JsonObject:
        given = skip + len(kept)
        if given < number:
            return {**head, name: kept, "next": f"{given}:{cursor or ''}"}
        return {**head, name: kept, **({"next": f"0:{following}"} if following else {})}

    return build
