"""The models that many calls for one project use, and how each is called, looked up again after a second."""

from threading import Lock
from time import monotonic
from typing import Final
from uuid import UUID

from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.queries import connection_of, usable_model

FRESH_SECONDS: Final = 1.0
"""How long a key that was taken away may still be used."""


class Reach:
    """What a project reaches, shared by threads: a lookup takes three queries, and steps side by side make eighty of them in a second."""

    def __init__(self, project_id: UUID) -> None:
        self._project_id = project_id
        self._known: dict[str, tuple[float, ModelName, Connection]] = {}
        self._lock = Lock()

    def model(self, text: str) -> tuple[ModelName, Connection]:
        """The model that the text names, and how it is called. Raises `InvalidInput` and `Unavailable` as `usable_model` does."""
        with self._lock:
            until, name, connection = self._known.get(text) or (0.0, None, None)
            if name is None or connection is None or until < monotonic():
                name = usable_model(self._project_id, text)
                connection = connection_of(self._project_id, name)
                self._known[text] = monotonic() + FRESH_SECONDS, name, connection
            return name, connection
