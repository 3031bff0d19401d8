"""The base class of the resources."""

from timemachine.client.connection import Connection


class Resource:
    """A part of the API, over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
