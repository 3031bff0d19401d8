"""Pagination of the API's lists."""

from collections.abc import Callable, Iterator
from typing import Any, TypedDict, cast

LARGEST_PAGE = 200


class Page[Item](TypedDict):
    """What every page of a list has: its items, and the cursor of the next page."""

    items: list[Item]
    next: str | None


def every[Item](page: Callable[[str | None], Page[Item]]) -> Iterator[Item]:
    """Every item of a list; `page` fetches the page after a cursor."""
    after: str | None = None
    while True:
        found = page(after)
        yield from found["items"]
        after = found["next"]
        if after is None:
            return


def whole[Answer](page: Callable[[str | None], Answer]) -> Answer:
    """The answer with all items of its list; the other fields are those of the last page."""
    answers: list[Any] = []

    def remembered(after: str | None) -> Page[Any]:
        answers.append(page(after))
        return cast("Page[Any]", answers[-1])

    items = list(every(remembered))
    return cast("Answer", answers[-1] | {"items": items, "next": None})
