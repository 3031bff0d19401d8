"""The content of a message of chat completions: a text, or a list of parts."""

from collections.abc import Sequence
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    extra_of,
    is_only_text,
    object_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.media import (
    FILE_PLACES,
    as_url,
    from_url,
    read_audio,
    read_file,
    write_audio,
    write_file,
)
from timemachine.llm.pure.requests.neutral import Media, Other, Part, Refusal, Text
from timemachine.llm.pure.requests.notes import Notes


def read_content(content: Any, where: str, provider: str) -> list[Text | Media | Refusal | Other]:
    """Read content. Empty text is nothing.

    Raises:
        RequestError: It is neither a text nor a list of parts.
    """
    if content is None or isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, list):
        raise RequestError(f"`{where}.content` is neither text nor a list.")
    parts = [_read_part(part, f"{where}.content[{number}]", provider) for number, part in enumerate(content)]
    return [part for part in parts if part not in (Text(""), Refusal(""))]


def _read_part(part: Any, where: str, provider: str) -> Text | Media | Refusal | Other:
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        raise RequestError(f"`{where}` is neither text nor a JSON object.")
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(part["text"], extra_of(provider, rest(part, "type", "text")))
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return Refusal(part["refusal"], extra_of(provider, rest(part, "type", "refusal")))
    return _read_media(part, provider) or Other(provider, part)


def _read_media(part: JsonObject, provider: str) -> Media | None:
    kind = part.get("type")
    if kind == "image_url":
        return _read_image(part, provider)
    if kind == "input_audio" and (audio := read_audio(part)):
        own = rest(part, "type", "input_audio")
        return Media(kind="audio", data=audio[0], media_type=audio[1], extra=extra_of(provider, own))
    file = object_at(part, "file")
    if kind == "file" and "file_url" not in file and (place := read_file(file)):
        inner = rest(file, *FILE_PLACES, "filename")
        own = {**rest(part, "type", "file"), **({"file": inner} if inner else {})}
        return Media(kind="document", extra=extra_of(provider, own), **place)
    return None


def _read_image(part: JsonObject, provider: str) -> Media | None:
    image = part.get("image_url")
    found = {"url": image} if isinstance(image, str) else object_at(part, "image_url")
    url = text_at(found, "url")
    if url is None:
        return None
    inner, outer = rest(found, "url"), rest(part, "type", "image_url")
    own = {**outer, **({"image_url": inner} if inner else {})}
    return Media(kind="image", extra=extra_of(provider, own), **from_url(url))


def write_content(parts: Sequence[Part], notes: Notes) -> str | list[JsonObject] | None:
    """Write content: a text if it is one text and nothing else. None if there is nothing."""
    written = [each for part in parts if (each := _write_part(part, notes)) is not None]
    if len(written) == 1 and is_only_text(written[0]):
        return str(written[0]["text"])
    return written or None


def _write_part(part: Part, notes: Notes) -> JsonObject | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text, **notes.own(part.extra)}
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text, **notes.own(part.extra)}
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Other) and part.provider == notes.provider:
        return dict(part.value)
    notes.part(part)
    return None


def _write_media(media: Media, notes: Notes) -> JsonObject | None:
    if media.text is not None:
        notes.note("Plain-text documents are sent as text.")
        return {"type": "text", "text": media.text}
    own = notes.own(media.extra)
    if media.kind == "audio" and media.data is None:
        notes.unknown("Audio that is not in the request")
        return None
    if media.kind == "audio":
        return {"type": "input_audio", "input_audio": write_audio(media), **own}
    if media.kind == "image":
        return _write_image(media, own, notes)
    file = {**write_file(media), **object_at(own, "file")}
    if file.pop("file_url", None) is not None:
        notes.unknown("A document given by URL")
        return None
    return {"type": "file", "file": file, **rest(own, "file")}


def _write_image(media: Media, own: JsonObject, notes: Notes) -> JsonObject | None:
    url = as_url(media)
    if url is None:
        notes.unknown("An uploaded image")
        return None
    return {
        "type": "image_url",
        **rest(own, "image_url"),
        "image_url": {"url": url, **object_at(own, "image_url")},
    }
