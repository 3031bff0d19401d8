"""A project of a running product: its address, its API key and its administrator's sign-in link."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.stub_model_server import StubModelServer


@dataclass(kw_only=True)
class Product:
    """One project of a running product: its key, and its administrator's one-time link."""

    home: Path
    url: str
    key: str
    sign_in_link: str
    signed_in: dict[str, str] = field(default_factory=dict)

    def cookies(self) -> list[dict[str, Any]]:
        """Return the cookies of the administrator's browser. The first call uses the link."""
        if not self.signed_in:
            with httpx.Client(timeout=60) as client:
                page = client.get(self.sign_in_link).text
                token = page.split('name="csrfmiddlewaretoken" value="')[1].partition('"')[0]
                client.post(self.sign_in_link, data={"csrfmiddlewaretoken": token})
                self.signed_in = dict(client.cookies)
        return [{"name": name, "value": value, "url": self.url} for name, value in self.signed_in.items()]


class OwnProduct(Product):
    """The first project of a product that one test uses alone and may kill."""

    def __init__(self, machine: Machine) -> None:
        link = re.search(r"http://\S+/sign-in/\S+", machine.output)
        assert link is not None
        super().__init__(
            home=machine.home,
            url=f"http://127.0.0.1:{machine.port}",
            key=(machine.home / "local-key").read_text().strip(),
            sign_in_link=link.group(),
        )
        self.machine = machine


@contextmanager
def with_models_of(stub: StubModelServer, used_home: Path, folder: Path) -> Iterator[OwnProduct]:
    """Run a product whose models of OpenAI are those of the stub."""
    model = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{stub.url}/v1"}
    machine = Machine(copied(used_home, folder / "home"), **model).ready()
    yield OwnProduct(machine)
    assert machine.end() == 0
