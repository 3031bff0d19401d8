"""A running product to measure: signed in, and after its worker has finished."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.e2e.product import Product
from tests.embedded.machine import Machine

IDLE = 0.1
"""The maximum share of a core that an idle worker uses."""


def settle(machine: Machine) -> None:
    """Wait until the worker has processed the new steps, so that only the pages are measured."""
    busy = 1.0
    while busy > IDLE:
        before = worked(machine)
        time.sleep(5)
        busy = (worked(machine) - before) / 5


def worked(machine: Machine) -> float:
    """Return the seconds of processor time that the worker used so far."""
    ticks = 0
    for pid, line in machine.processes().items():
        if "celery" in line:
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def signed_in(product: Product) -> Iterator[httpx.Client]:
    """Return a client with the cookies of the administrator."""
    cookies = {each["name"]: each["value"] for each in product.cookies()}
    with httpx.Client(base_url=product.url, follow_redirects=True, timeout=60, cookies=cookies) as client:
        yield client
