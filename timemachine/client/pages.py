"""Pagination of the API's lists."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.connection import Document

LARGEST_PAGE = 200


def every(page: "Callable[[str | None], Document]") -> "Iterator[Document]":
    """Every item of a list; `page` fetches the page after a cursor."""
    after: str | None = None
    while True:
        found = page(after)
        yield from found["items"]
        after = found["next"]
        if after is None:
            return
