"""The Python client: use a Time Machine server over HTTP, and record to it. Imports no Django.

Start with `from timemachine.client import TimeMachine`. `load_session` reads a recording without a server.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from timemachine.client.machine import TimeMachine
    from timemachine.client.zip_recordings import load_session

__all__ = ["TimeMachine", "load_session"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from timemachine.client import machine, zip_recordings  # the command needs neither

    return machine.TimeMachine if name == "TimeMachine" else zip_recordings.load_session
