"""What every answer to a program says of itself."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control


class NotStored:
    """Has nobody between here and the program keep an answer of the API: recorded texts, and keys and links that are told once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith("/api/"):
            patch_cache_control(response, no_store=True)
        return response
