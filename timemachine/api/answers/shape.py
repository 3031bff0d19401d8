"""What every answer is made of: documents without further fields, lists in pages, and the one form of a refusal."""

from typing import Any, Final, NotRequired, TypedDict

from pydantic import ConfigDict, with_config

OF_SESSION: Final = "/api/sessions/{session_id}"

type Answers = dict[tuple[str, str, int], Any]
"""What operations answer: by method, path and status, a document or several of which it is one."""


@with_config(ConfigDict(extra="forbid"))
class Document(TypedDict):
    """A document that has the fields that are named, and no others."""


@with_config(ConfigDict(extra="allow"))
class Kept(TypedDict, total=False):
    """A document as it was kept, perhaps by another version, with what was chosen: fields may be missing, and others there."""


class Page(Document):
    """A part of a list; `next` is what `after` has to be for the part behind it, null where there is none."""

    next: str | None


class Told(Document):
    """Why something of a document failed."""

    code: str
    message: str


class Failed(Document):
    """What a call of a model failed of."""

    type: str | None
    message: str | None


class Usage(Document):
    """Tokens, null where they were not recorded."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None


class CallUsage(Usage):
    """Tokens of one call, as they were kept with it."""

    cache_write_1h_tokens: NotRequired[int | None]


class ProfileNamed(Document):
    """A version of a redaction profile."""

    name: str
    version: int


class Counted(Document):
    """How often a rule found what."""

    rule: str
    what: str
    count: int
