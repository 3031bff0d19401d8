"""A collection that tests open in a browser: its name, its address, its frames, and helpers."""

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
    """Upload files with the form and return the answer."""
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(f"{HERE}upload/", {"file": sent})


def texts(collection: Collection) -> list[str]:
    """Return the texts of the current frames."""
    return [text(frame.payload) for frame in frames_at(collection)]
