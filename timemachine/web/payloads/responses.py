"""The images of a payload as responses."""

from django.http import HttpResponse

from timemachine.core.pure.errors import NotFound
from timemachine.web.payloads.pure.shapes import images_of


def image_in_payload(media_type: str, data: bytes, number: int) -> HttpResponse:
    """Return an image of a payload by its number, as what its bytes say it is.

    Raises:
        NotFound: The payload has no such image.
    """
    found = images_of(media_type, data.decode("utf-8", "replace"))
    if number >= len(found):
        raise NotFound("This payload has no such image.", code="image_not_found")
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
    return HttpResponse(found[number].content, content_type=found[number].media_type, headers=headers)
