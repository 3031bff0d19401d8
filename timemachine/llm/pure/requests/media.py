"""Images, documents and recordings, as each API writes them."""

import re
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import object_at, rest, text_at
from timemachine.llm.pure.requests.neutral import Media

_DATA_URL: Final = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_START_OF_A_PDF: Final = "JVBERi0"
PDF: Final = "application/pdf"
FILE_PLACES: Final = ("file_data", "file_url", "file_id")
_AUDIO: Final = {"mp3": "audio/mpeg"}


def from_url(url: str) -> dict[str, str]:
    """Return the fields of `Media` for an address. A data URL has its media type and its data in it."""
    match = _DATA_URL.fullmatch(url)
    return {"media_type": match[1], "data": match[2]} if match else {"url": url}


def as_url(media: Media) -> str | None:
    """Return the address of a medium, a data URL if it has data. None if it has neither."""
    if media.data is None:
        return media.url
    return media.data if media.media_type is None else f"data:{media.media_type};base64,{media.data}"


def read_file(found: JsonObject) -> dict[str, Any] | None:
    """Return the fields of `Media` for a file as OpenAI writes it: its data, its address, or its id, and its name. None
    if it has none or several of them.

    Data without a media type are a PDF if they begin as one.
    """
    data, url, file_id = (text_at(found, name) for name in FILE_PLACES)
    stated = [each for each in (data, url, file_id) if each is not None]
    if len(stated) != 1:
        return None
    name = {"name": text_at(found, "filename")}
    if file_id is not None:
        return {"file_id": file_id, "uploaded_to": "openai", **name}
    if data is None:
        return {"url": url, **name}
    place = from_url(data)
    if "url" in place:
        return {"data": data, "media_type": PDF if data.startswith(_START_OF_A_PDF) else None, **name}
    return {**place, **name}


def write_file(media: Media) -> JsonObject:
    """Return a document as OpenAI writes files."""
    place = {
        "file_data": as_url(media) if media.data is not None else None,
        "file_url": media.url if media.data is None else None,
        "file_id": media.file_id,
        "filename": media.name,
    }
    return {name: value for name, value in place.items() if value is not None}


def read_audio(part: JsonObject) -> tuple[str, str] | None:
    """Return data and media type of `input_audio`. None if it has none."""
    audio = object_at(part, "input_audio")
    data, form = text_at(audio, "data"), text_at(audio, "format")
    if data is None or not form or rest(audio, "data", "format"):
        return None
    return data, _AUDIO.get(form, f"audio/{form}")


def write_audio(media: Media) -> JsonObject:
    """Return a recording as OpenAI writes `input_audio`."""
    media_type = media.media_type or ""
    forms = {value: name for name, value in _AUDIO.items()}
    return {
        "data": media.data or "",
        "format": forms.get(media_type, media_type.removeprefix("audio/")),
    }
