"""Who is asking, for which project. Every view starts here."""

from typing import Any

from django.http import HttpRequest


def project_context(_request: HttpRequest) -> dict[str, Any]:
    """What every template knows of the project."""
    return {}
