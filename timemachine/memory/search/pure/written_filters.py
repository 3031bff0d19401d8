"""Filters written into the search field as `name:value`, as on the timeline: `timeout status:error tool:"read file"`. Pure."""

import re
from collections.abc import Iterable


def extract_filters(text: str, names: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return the text without its filters of these names, and their values, the last one of each name.

    What is in quotation marks or excluded with `-` is searched for as it is written.
    """
    found: dict[str, str] = {}

    def take(token: re.Match[str]) -> str:
        if token["name"] is None:
            return token[0]
        found[token["name"].lower()] = token["quoted"] or token["word"]
        return ""

    name = "|".join(map(re.escape, names))
    piece = rf'"[^"]*"|(?<!\S)(?P<name>(?i:{name})):(?:"(?P<quoted>[^"]+)"|(?P<word>[^\s"]+))(?!\S)'
    return " ".join(re.sub(piece, take, text).split()), found
