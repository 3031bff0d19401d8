"""What a word on the command line may name: only a session has a key, everything else is named by its id."""

from collections.abc import Callable
from uuid import UUID

from timemachine.client.errors import Refused

_NOT_FOUND = 404


def is_uuid(text: str) -> bool:
    """Whether it is an id, by which things of every kind are named."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def is_there(ask: Callable[[], object]) -> bool:
    """Whether the server has what it is asked for. Raises `Refused` where it refuses for another reason."""
    try:
        ask()
    except Refused as why:
        if why.status != _NOT_FOUND:
            raise
        return False
    return True
