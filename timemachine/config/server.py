"""The web server: `python -m timemachine.config.server HOST PORT`."""

import gc
import os
import sys
import tempfile
from typing import Final

from django.conf import settings
from django.urls import get_resolver
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

THREADS: Final = 20
"""In each process. They mostly wait: for the database, a model or the reader of a live page."""


def main(host: str, port: int) -> None:
    """Serve pages and API until a signal ends it. The application is loaded once, so that the processes share its memory."""
    with tempfile.TemporaryDirectory(prefix="timemachine-metrics-") as counts:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", counts)  # before the library is imported
        _serve(host, port)


def _serve(host: str, port: int) -> None:
    from timemachine.config import wsgi  # noqa: F401
    from timemachine.core.requirements import exit_if_unsuitable

    exit_if_unsuitable()
    get_resolver().url_patterns  # noqa: B018  # imports every view
    gc.freeze()
    Server(
        "timemachine.config.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=settings.WEB_PROCESSES,
        blocking_threads=THREADS,
        log_level=LogLevels.error,
    ).serve()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
