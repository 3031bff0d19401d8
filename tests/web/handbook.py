"""A collection that tests look at in a browser: what it is called, what is in it, and who does what with it."""

from typing import Any
from urllib.parse import quote

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from timemachine.core.payloads.queries import text
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import frames_at

NAME = "Handbuch für Prüfer 📚"
HERE = f"/collections/{quote(NAME)}/"
FACTS = [
    NewFrame(title="Retention", text="Invoices are kept for ten years, then shredded by the archive team."),
    NewFrame(
        title="Travel", uri="https://example.org/travel", text="Train tickets are booked in second class."
    ),
    NewFrame(title="Garten", text="Im Frühjahr werden die Apfelbäume geschnitten."),
]


def upload(client: Client, *files: tuple[str, bytes]) -> Any:
    """The answer to an upload of files by the form."""
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(f"{HERE}upload/", {"file": sent})


def texts(collection: Collection) -> list[str]:
    """The texts of the current frames."""
    return [text(frame.payload) for frame in frames_at(collection)]
