"""Record what the process does during a session as events of the layer `sys`: opened, removed and renamed files, programs, HTTP requests.

Files, programs, `http.client`, `urllib.request` and libraries on top of them (`requests`, `urllib3`) raise Python's audit events (PEP
578). The hook stays for the life of the process and does nothing while no session records. Audit events come before the operation, so
its outcome is not known, and each event contains this. httpx and aiohttp have no such events and are wrapped while a session records.
The client's own requests and files are left out, and so is code that Python itself reads.
"""

import inspect
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol

from timemachine.client.recording.command_words import redacted_url, without_secrets
from timemachine.client.recording.sender import OURS
from timemachine.client.recording.spool_database import DAMAGED, SQLITE_SUFFIXES, SUFFIX
from timemachine.core.pure.json_types import JsonObject

_OWN: Final = "timemachine"
_SPOOLS: Final = (SUFFIX, DAMAGED, *(SUFFIX + each for each in SQLITE_SUFFIXES))
_CODE: Final = re.compile(r"\.(py|pyc|so|pth|pyd)(\.\d+)?$")
"""With a number: compiled code that Python is writing."""
_READS_CODE: Final = re.compile(
    r"<frozen (importlib|zipimport|runpy|site)|[/\\](linecache|tokenize|inspect|runpy|py_compile)\.py$|[/\\]importlib[/\\]"
)
_STANDARD_LIBRARY: Final = (os.path.dirname(os.__file__) + os.sep, "<frozen ")  # noqa: PTH120  # pathlib would open files
_INSTALLED: Final = f"{os.sep}site-packages{os.sep}"
_PACKAGE: Final = __file__.removesuffix(os.path.join("client", "recording", "system_events.py"))  # noqa: PTH118
_REQUEST: Final = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]\r\n")
_HTTPS: Final = 443


class Listener(Protocol):
    """A session that records system events."""

    def event(self, name: str, data: Any = None, *, layer: str = "agent", **more: Any) -> None:
        """Record an event."""


NOT_KNOWN: Final = "not known"

type Event = tuple[str, JsonObject, JsonObject]
_listeners: list[Listener] = []
_lock = threading.Lock()
_hooked = threading.Event()
_unwrapped: list[tuple[Any, str, Any]] = []


def listen(session: Listener) -> None:
    """Start recording files and requests into a session."""
    with _lock:
        _listeners.append(session)
        if not _hooked.is_set():
            _hooked.set()
            sys.addaudithook(_audit)
        if not _unwrapped:
            _wrap()


def stop_listening(session: Listener) -> None:
    """Stop recording into a session."""
    with _lock:
        if session in _listeners:
            _listeners.remove(session)
        if not _listeners:
            while _unwrapped:
                owner, name, before = _unwrapped.pop()
                setattr(owner, name, before)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _listeners or event not in _EVENTS or getattr(OURS, "busy", False):
        return
    _record(lambda: _without_outcome(_EVENTS[event](*args)))


def _without_outcome(event: Event | None) -> Event | None:
    """The event, marked as having an unknown outcome."""
    if event is None:
        return None
    name, data, more = event
    return name, data | {"outcome": NOT_KNOWN}, more


def _record(found: Callable[[], Event | None]) -> None:
    """Record an event; our own failures must not reach the agent."""
    OURS.busy = True
    try:
        event = found()
        if event is not None:
            name, data, more = event
            for each in _listeners:
                each.event(name, data, layer="sys", **more)
    except Exception:  # noqa: BLE001, S110  # an exception in an audit hook would abort the operation
        pass
    finally:
        OURS.busy = False


def _opened(path: Any, mode: Any, flags: Any) -> Event | None:
    if isinstance(path, int):
        return None
    name = os.fsdecode(path)
    if name.endswith(_SPOOLS) or _is_client() or (_CODE.search(name) and _is_python_itself()):
        return None
    return "file.open", {"path": name, "mode": mode or _mode(flags)}, {}


def _is_python_itself() -> bool:
    """Whether Python itself opens the file, to import it or to show a line of it."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and _READS_CODE.search(frame.f_code.co_filename) is not None


def _is_client() -> bool:
    """Whether the client itself does something with a file, also through the standard library.

    Functions of an application that the client calls are not its own: only the innermost frame counts.
    """
    frame = inspect.currentframe()
    while frame is not None and (
        frame.f_code.co_filename == __file__ or _is_standard(frame.f_code.co_filename)
    ):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_PACKAGE)


def _is_standard(filename: str) -> bool:
    return filename.startswith(_STANDARD_LIBRARY) and _INSTALLED not in filename


def _removed(path: Any, *_: Any) -> Event | None:
    name = os.fsdecode(path)
    is_own = name.endswith(_SPOOLS) or _is_client() or _is_python_itself()
    return None if is_own else ("file.remove", {"path": name}, {})


def _renamed(path: Any, target: Any, *_: Any) -> Event | None:
    names = os.fsdecode(path), os.fsdecode(target)
    if names[1].endswith(_SPOOLS) or _is_client() or _is_python_itself():
        return None
    return "file.rename", {"path": names[0], "target": names[1]}, {}


def _started(program: Any, words: Any, folder: Any, _: Any) -> Event | None:
    command = [words] if isinstance(words, str | bytes | os.PathLike) else list(words)
    data = {
        "program": os.fsdecode(program if program is not None else command[0]),
        "arguments": without_secrets([os.fsdecode(each) for each in command]),
        "folder": None if folder is None else os.fsdecode(folder),
    }
    return "process.start", {name: each for name, each in data.items() if each is not None}, {}


def _mode(flags: Any) -> str | None:
    if not isinstance(flags, int):
        return None
    return {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "r+"}.get(
        flags & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
    )


def _sent(connection: Any, data: Any) -> Event | None:
    request = _REQUEST.match(data) if isinstance(data, bytes) else None
    if request is None:
        return None
    method, target = request[1].decode("ascii"), request[2].decode("ascii", "replace")
    secure = hasattr(connection, "_context") or connection.port == _HTTPS
    url = (
        target
        if "://" in target
        else f"{'https' if secure else 'http'}://{connection.host}:{connection.port}{target}"
    )
    return f"http.{method.lower()}", {"method": method, "url": redacted_url(url)}, {}


_EVENTS: Final[dict[str, Callable[..., Event | None]]] = {
    "open": _opened,
    "os.remove": _removed,
    "os.rename": _renamed,
    "subprocess.Popen": _started,
    "http.client.send": _sent,
}


def _wrap() -> None:
    import httpx

    wrappings: list[tuple[Any, str, Callable[[Any], Any]]] = [
        (httpx.HTTPTransport, "handle_request", _sync),
        (httpx.AsyncHTTPTransport, "handle_async_request", _async),
    ]
    if find_spec("aiohttp") is not None:
        wrappings.append((import_module("aiohttp").ClientSession, "_request", _aiohttp))
    for owner, name, wrapped in wrappings:
        before = getattr(owner, name)
        _unwrapped.append((owner, name, before))
        setattr(owner, name, wrapped(before))


def _sync(before: Any) -> Any:
    def handle_request(self: Any, request: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            response = before(self, request)
        except Exception as why:  # recorded and raised again
            _requested(request, began, None, why)
            raise
        _requested(request, began, response.status_code, None)
        return response

    return handle_request


def _async(before: Any) -> Any:
    async def handle_async_request(self: Any, request: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            response = await before(self, request)
        except Exception as why:  # recorded and raised again
            _requested(request, began, None, why)
            raise
        _requested(request, began, response.status_code, None)
        return response

    return handle_async_request


def _aiohttp(before: Any) -> Any:
    async def _request(self: Any, method: str, str_or_url: Any, **more: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            response = await before(self, method, str_or_url, **more)
        except Exception as why:  # recorded and raised again
            _record_request(method.upper(), str(str_or_url), began, None, why)
            raise
        _record_request(method.upper(), str(response.url), began, response.status, None)
        return response

    return _request


def _requested(request: Any, began: int, status: int | None, why: Exception | None) -> None:
    if _OWN not in request.extensions:
        _record_request(request.method, str(request.url), began, status, why)


def _record_request(method: str, url: str, began: int, status: int | None, why: Exception | None) -> None:
    if getattr(OURS, "busy", False):
        return

    def event() -> Event:
        more: JsonObject = {"duration_ms": (time.perf_counter_ns() - began) / 1e6}
        if why is not None:
            more["error"] = {"type": type(why).__name__, "message": str(why)}
        data = {"method": method, "url": redacted_url(url), "status": status}
        return f"http.{method.lower()}", {name: each for name, each in data.items() if each is not None}, more

    _record(event)
