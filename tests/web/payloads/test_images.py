import base64
import struct
from typing import Any

import pytest

from timemachine.web.payloads.pure.images import image_in, images
from timemachine.web.payloads.pure.shapes import images_of

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + bytes(20)
JPEG = b"\xff\xd8\xff\xe0" + bytes(40)
WEBP = b"RIFF\0\0\0\0WEBP" + bytes(40)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "value",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(PNG)}},
        {"type": "image", "data": base64_of(PNG), "mimeType": "image/png"},
        {"inlineData": {"mimeType": "image/png", "data": base64_of(PNG)}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64_of(PNG)}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{base64_of(PNG)}"},
        f"data:image/png;base64,{base64_of(PNG)}",
    ],
)
def test_the_image_of_a_message_is_found_in_every_form(value: Any) -> None:
    found = image_in(value)
    assert found is not None
    assert (found.media_type, found.shape, found.content) == ("image/png", (640, 480), PNG)


@pytest.mark.parametrize(
    ("data", "media_type"), [(JPEG, "image/jpeg"), (WEBP, "image/webp"), (b"GIF89a" + bytes(40), "image/gif")]
)
def test_an_image_is_what_its_bytes_say(data: bytes, media_type: str) -> None:
    found = image_in({"type": "image", "media_type": "image/svg+xml", "data": base64_of(data)})
    assert found is not None
    assert (found.media_type, found.shape) == (media_type, None)


@pytest.mark.parametrize(
    "value",
    [
        f"data:image/svg+xml;base64,{base64_of(SVG)}",
        {"type": "image", "media_type": "image/png", "data": base64_of(SVG)},
        {"type": "image", "media_type": "image/png", "data": "*" * 80},
        {"type": "image", "media_type": "image/png", "data": "short"},
        {"type": "file", "media_type": "text/plain", "data": base64_of(PNG)},
        {"image_url": "https://example.com/a.png"},
        {"image_url": 3},
        "a text",
        7,
    ],
)
def test_anything_else_is_no_image(value: Any) -> None:
    assert image_in(value) is None


def test_images_are_numbered_as_they_were_written() -> None:
    one, two = ({"type": "image", "media_type": "image/x", "data": base64_of(each)} for each in (PNG, JPEG))
    assert [each.media_type for each in images({"a": [one, {"b": "x"}], "c": two})] == [
        "image/png",
        "image/jpeg",
    ]


def test_a_deep_value_is_not_searched_to_its_end() -> None:
    value: Any = {"type": "image", "media_type": "image/png", "data": base64_of(PNG)}
    for _ in range(100):
        value = [value]
    assert list(images(value)) == []


def test_the_images_of_a_payload_are_those_of_its_json_or_its_text() -> None:
    url = f"data:image/png;base64,{base64_of(PNG)}"
    assert [
        len(images_of(*each)) for each in (("application/json", f'["{url}"]'), ("text/plain", f'["{url}"]'))
    ] == [1, 1]
    assert [len(images_of("text/plain", each)) for each in (url, "[no json", "text")] == [1, 0, 0]
