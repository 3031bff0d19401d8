"""A small recording that replays are made of in a terminal."""

import json

from tests.cli.terminal import Here
from timemachine.recording.sessions.models import Session

PASSAGES = [
    (
        "Refunds",
        "Refunds are paid within 14 days. They go to the card that paid. Ask for the number of the return.",
    ),
    ("Shipping", "Parcels leave Köln every weekday at noon. They take two days inside Germany."),
    ("Guarantee", "The guarantee covers defects for three years. Batteries are covered for one year."),
]


def refunds(tm: Here) -> Session:
    """A session with an ask, a checkpoint and a find, ended."""
    lines = "\n".join(
        json.dumps({"title": title, "text": text}, ensure_ascii=False) for title, text in PASSAGES
    )
    tm.json("put", "handbook", tm.file("handbook.jsonl", lines))
    tm.json("session", "start", "handbook", "--name", "Rückgabe", "--key", "s1")
    tm.json(
        "ask",
        "handbook",
        "--question",
        "When are refunds paid?",
        "--use-model",
        "local:extractive-1",
        "--session",
        "s1",
    )
    tm.json("session", "checkpoint", "s1", "--name", "answered")
    tm.json("find", "handbook", "--query", "How long is the guarantee?", "--session", "s1", "--top-k", "2")
    tm.json("session", "end", "s1")
    return Session.objects.get()
