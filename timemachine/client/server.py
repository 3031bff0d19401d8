"""Which server to talk to, and with which key: what the environment names, else the server that runs on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from timemachine.client.errors import NoServer
from timemachine.core.pure.home import local_key_file, running_server

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's address, without a slash at its end, and the API key for it (None: none is known)."""

    url: str
    key: str | None

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine, so that no proxy lies between."""
        return urlsplit(self.url).hostname in LOOPBACK


def find_server(environment: Mapping[str, str]) -> Server:
    """`TIMEMACHINE_URL` with `TIMEMACHINE_API_KEY`, else the server that `make up` runs here with this machine's own key.

    This machine's key goes to this machine's server and to no other. Raises `NoServer`.
    """
    chosen, running = environment.get("TIMEMACHINE_URL", "").strip(), running_server()
    if not chosen and running is None:
        raise NoServer(
            "No server runs on this machine: start one with `make up`, or set TIMEMACHINE_URL and TIMEMACHINE_API_KEY "
            "for one elsewhere."
        )
    here = _checked_url(running.url) if running else None
    url = _checked_url(chosen) if chosen else here or ""
    key = environment.get("TIMEMACHINE_API_KEY", "").strip() or (_local_key() if url == here else None)
    return Server(url=url, key=_checked_key(key) if key else None)


def runs_here(url: str) -> bool:
    """Whether this is the server that `make up` runs on this machine."""
    running = running_server()
    return running is not None and running.url.rstrip("/") == url


def _checked_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not text.isprintable() or parts.query or parts.fragment:
        raise NoServer(
            f"The server's address {text[:200]!r} cannot be used; set TIMEMACHINE_URL to one like http://127.0.0.1:8000.",
            code="not_an_address",
        )
    return text.rstrip("/")


def _checked_key(key: str) -> str:
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise NoServer(
            "The API key holds characters that no key has; copy it again into TIMEMACHINE_API_KEY.",
            code="not_a_key",
        )
    return key


def _local_key() -> str | None:
    try:
        return local_key_file().read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
