"""Let WhiteNoise find the static files once per process: every Django test client creates its own middleware."""

from typing import Any

from whitenoise.middleware import WhiteNoiseMiddleware

_add_files = WhiteNoiseMiddleware.add_files_from_finders
_found: dict[str, Any] = {}


def find_once() -> None:
    """Share the files that the first middleware finds with every later one. They do not change during a run."""
    WhiteNoiseMiddleware.add_files_from_finders = _add_what_is_known


def _add_what_is_known(middleware: WhiteNoiseMiddleware) -> None:
    if not _found:
        _add_files(middleware)
        _found.update(middleware.files)
    middleware.files.update(_found)
