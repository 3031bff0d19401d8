"""Our static files, as WhiteNoise finds them, looked for once a process: each browser of Django's tests makes a middleware of its own."""

from typing import Any

from whitenoise.middleware import WhiteNoiseMiddleware

_look = WhiteNoiseMiddleware.add_files_from_finders
_found: dict[str, Any] = {}


def find_once() -> None:
    """From now on every middleware knows what the first one found; nothing changes in our folders meanwhile."""
    WhiteNoiseMiddleware.add_files_from_finders = _add_what_is_known


def _add_what_is_known(middleware: WhiteNoiseMiddleware) -> None:
    if not _found:
        _look(middleware)
        _found.update(middleware.files)
    middleware.files.update(_found)
