"""Compress responses, except streams, whose pieces would be delayed."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from timemachine.core.pure.server_sent import MEDIA_TYPE


class Compressed(GZipMiddleware):
    """Django's compression, for everything but event streams."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is worth it."""
        if response.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        return super().process_response(request, response)
