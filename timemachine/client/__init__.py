"""The Python client: use a Time Machine server over HTTP, and record to it. Imports no Django.

Start with `from timemachine.client import TimeMachine`, or `AsyncTimeMachine` in asynchronous code. `load_session` reads a recording without a server.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from timemachine.client.asynchronous import AsyncTimeMachine
    from timemachine.client.machine import TimeMachine
    from timemachine.client.zip_recordings import load_session

__all__ = ["AsyncTimeMachine", "TimeMachine", "load_session"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from timemachine.client import asynchronous, machine, zip_recordings  # the command needs none of them

    modules = {"AsyncTimeMachine": asynchronous, "TimeMachine": machine, "load_session": zip_recordings}
    return getattr(modules[name], name)
