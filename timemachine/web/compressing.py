"""Compressing what is sent, but for streams: there each piece would wait until enough of them have come together."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from timemachine.core.pure.server_sent import MEDIA_TYPE


class Compressed(GZipMiddleware):
    """Django's compression, for whatever is not a stream of events."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response where that is worth it."""
        if response.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        return super().process_response(request, response)
