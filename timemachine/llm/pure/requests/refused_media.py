"""Which images, documents and recordings an API accepts, and where.

https://platform.openai.com/docs/guides/images-vision, https://platform.openai.com/docs/guides/pdf-files,
https://platform.openai.com/docs/guides/audio, https://platform.claude.com/docs/en/build-with-claude/vision,
https://platform.claude.com/docs/en/build-with-claude/pdf-support, https://platform.claude.com/docs/en/build-with-claude/files
"""

from collections.abc import Iterator
from typing import Final

from timemachine.llm.pure.requests.media import PDF
from timemachine.llm.pure.requests.neutral import ANTHROPIC, OPENAI, Media, Message, Request

_IMAGES_OF_ANTHROPIC: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_AUDIO: Final = frozenset({"audio/mpeg", "audio/wav"})
_WORDS: Final = {"image": "An image", "document": "A document", "audio": "A recording"}


def refused_media(request: Request, api: str) -> tuple[str, ...]:
    """Return why the media of a request are not accepted, each reason as a sentence with the message."""
    return tuple(
        f"Message {number} ({message.role}): {reason}"
        for number, message in enumerate(request.messages, start=1)
        for reason in _reasons(message, api)
    )


def _reasons(message: Message, api: str) -> Iterator[str]:
    in_results = [part for result in message.results for part in result.parts if isinstance(part, Media)]
    media = [part for part in message.parts if isinstance(part, Media)]
    for each in (*media, *in_results):
        placed = api == ANTHROPIC or message.role in {"user", "tool"}
        if not placed and each.text is None:
            yield f"{_WORDS[each.kind]} is accepted only in a user message."
        yield from _reason(each, api)


def _reason(media: Media, api: str) -> Iterator[str]:
    vendor = ANTHROPIC if api == ANTHROPIC else OPENAI
    if media.file_id is not None and media.uploaded_to != vendor:
        yield f"{_WORDS[media.kind]} was uploaded to {media.uploaded_to or 'another server'}, not to {vendor}."
    elif media.kind == "audio":
        yield from _recording(media, api)
    elif api == ANTHROPIC:
        yield from _of_anthropic(media)
    elif api == OPENAI:
        yield from _of_chat(media)


def _recording(media: Media, api: str) -> Iterator[str]:
    if api != OPENAI:
        yield "Audio is not accepted."
    elif media.data is None or media.media_type not in _AUDIO:
        yield "Audio must be in the request, as WAV or MP3."


def _of_anthropic(media: Media) -> Iterator[str]:
    if media.data is None:
        return
    if media.kind == "image" and media.media_type not in _IMAGES_OF_ANTHROPIC:
        yield f"An image of type {media.media_type or 'unknown'} is not accepted; JPEG, PNG, GIF and WebP are."
    if media.kind == "document" and media.media_type != PDF:
        yield f"A document of type {media.media_type or 'unknown'} is not accepted; PDF and plain text are."


def _of_chat(media: Media) -> Iterator[str]:
    if media.kind == "document" and media.url is not None:
        yield "A document given by URL is not accepted; include it in the request."
    if media.kind == "image" and media.file_id is not None:
        yield "An uploaded image is not accepted; include it in the request or give its URL."
