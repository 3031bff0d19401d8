"""The OpenTelemetry spans of one process on their way through the spool to the server."""

from timemachine.client.recording.sender import Sender
from timemachine.core.pure.json_types import JsonObject


class Spans:
    """The spans of one process on their way to the server."""

    def __init__(self, sender: Sender, header: JsonObject) -> None:
        self._sender = sender
        self._header = header
        self.forked()

    def forked(self) -> None:
        """Begin with a spool of our own, also in a forked child process."""
        self._outbox = self._sender.outbox(self._header, self)

    def add(self, lines: list[bytes]) -> bool:
        """Write lines into the spool; returns whether there was space."""
        try:
            self._outbox.recording.append(lines)
        except OSError as why:
            self._outbox.shortfall.add(lost=len(lines), why=str(why))
            return False
        self._sender.open(self._outbox)
        self._sender.delivery.wake()
        return True

    def flush(self, timeout: float) -> bool:
        """Wait until everything is delivered; returns whether it is."""
        return self._sender.flush(timeout, only=self._outbox, patient=False)
