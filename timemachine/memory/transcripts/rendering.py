"""Render a transcript piece by piece: as a JSON document, as text for a prompt, or as chat messages."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from django.http import StreamingHttpResponse
from pydantic_core import to_json

from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import written
from timemachine.core.pure.streams import marked_if_cut_off
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.memory.transcripts.schemas import TranscriptHead
from timemachine.memory.transcripts.transcript import Transcript
from timemachine.recording.sessions.pure.turn_text import messages_of, omission_mark, paragraph, text_of

_PIECE: Final = 64 * 1024


def as_json(found: Transcript) -> Iterator[str]:
    """Yield one JSON document: how much is included, and one of `items` per turn.

    `left_out_before` is the number of turns left out before it, `deleted` when, by whom and why a deleted turn
    was deleted.
    """
    items = (_written(turn.document) for turn in found.turns())
    yield from _document(
        TranscriptHead.of(found).model_dump() | {"left_out_after": found.left_out_after}, "items", items
    )


def as_messages(found: Transcript) -> Iterator[str]:
    """Yield one JSON document: how much is included, and `messages` with `role` and `content`; gaps are marked in
    the text.
    """
    yield from _document(TranscriptHead.of(found).model_dump(), "messages", map(_written, _messages(found)))


def as_text(found: Transcript) -> Iterator[str]:
    """Yield a heading, then every turn, with marks for gaps."""
    yield paragraph(size_in_words(found))
    for turn in found.turns():
        if turn.left_out:
            yield paragraph(omission_mark(turn.left_out))
        yield paragraph(_sendable(text_of(turn.turn)))
    if found.left_out_after:
        yield paragraph(omission_mark(found.left_out_after))


def size_in_words(found: Transcript) -> str:
    """Return how much of the session is included, as a sentence."""
    session, included, recorded = found.session, found.kept, found.recorded
    about = "about " if found.estimated else ""
    marks = f", {found.marks:,} more for markers" if found.marks else ""
    name = _sendable(f"{session.name!s} ({session.key})")
    begun = "start not recorded" if session.began_at is None else f"started {written(session.began_at)}"
    return (
        f"{name}, {begun}: {included.turns:,} of {recorded.turns:,} turns, "
        f"{about}{included.tokens:,} of {recorded.tokens:,} tokens{marks} ({TOKENIZER_NAME})."
    )


FORMS: Final[Mapping[str, tuple[str, Callable[[Transcript], Iterator[str]]]]] = {
    "json": ("application/json", as_json),
    "text": ("text/plain; charset=utf-8", as_text),
    "messages": ("application/json", as_messages),
}
"""The forms by name: media type and renderer."""


def _messages(found: Transcript) -> Iterator[dict[str, str]]:
    for turn in found.turns():
        yield from _mark(turn.left_out)
        yield from messages_of(turn.turn)
    yield from _mark(found.left_out_after)


def _mark(turns: int) -> Iterator[dict[str, str]]:
    if turns:
        yield {"role": "user", "content": omission_mark(turns)}


def _written(document: Mapping[str, Any]) -> str:
    """Return the document as JSON. Text that is not valid UTF-8 is escaped by a slower encoder."""
    try:
        return to_json(document).decode()
    except ValueError:
        return json.dumps(document)


def _document(head: Mapping[str, Any], name: str, items: Iterator[str]) -> Iterator[str]:
    yield _written(head)[:-1]
    yield f', "{name}": ['
    for place, item in enumerate(items):
        yield f",\n{item}" if place else item
    yield "]}"


def streamed(found: Transcript, form: str) -> StreamingHttpResponse:
    """Return the response that streams the transcript in one of `FORMS`. If it fails midway, it ends with
    `CUT_OFF`.

    The first piece is read immediately and raises its errors, `Conflict` (`erased_meanwhile`) among them.
    """
    media_type, write = FORMS[form]
    headers = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}
    session = found.session
    record(session.project_id, "session.exported", "session", session.pk, format=f"transcript {form}")
    pieces = _in_pieces(write(found))
    parts = chain([next(pieces)], marked_if_cut_off(pieces))
    return StreamingHttpResponse(parts, content_type=media_type, headers=headers)


def _in_pieces(parts: Iterator[str]) -> Iterator[bytes]:
    """Yield the parts as bytes, many at a time, because each piece has a cost."""
    waiting: list[str] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= _PIECE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


def _sendable(text: str) -> str:
    """Return the text without characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()
