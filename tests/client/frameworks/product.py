"""The web server of the product, in a process of its own with the database of the test."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from tests.embedded.machine import free_port
from tests.replay.killed_workers import database_url
from tests.waiting import wait_until
from timemachine.embedded import programs
from timemachine.embedded.address import Address, answers


@contextmanager
def web_server() -> Generator[int]:
    """Serve the product as `make up` does, and yield the port. The server of the tests cannot read bodies without a length."""
    address = Address(host="127.0.0.1", port=free_port())
    program = programs.web_server(address, {"DATABASE_URL": database_url(), "CELERY_BROKER_URL": "memory://"})
    with subprocess.Popen(program.command, env=os.environ | program.environment) as process:
        try:
            wait_until(lambda: answers(address) or process.poll() is not None)
            assert process.poll() is None
            yield address.port
        finally:
            process.send_signal(program.last_signal)
