"""Find the server and the API key: from the environment, else the server on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from timemachine.client.errors import NoServer
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.home import home, local_key_file, running_server
from timemachine.core.pure.secret_settings import secret

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The URL of a server, without a slash at the end, and the API key (None if unknown)."""

    url: str
    key: str | None

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, so no proxy is needed."""
        return urlsplit(self.url).hostname in LOOPBACK


def find_server(environment: Mapping[str, str]) -> Server:
    """The server of `TIMEMACHINE_URL` and `TIMEMACHINE_API_KEY`, else the one that `make up` runs here, with this machine's key.

    This machine's key is sent only to this machine's server. Raises `NoServer`.
    """
    chosen, running = environment.get("TIMEMACHINE_URL", "").strip(), running_server()
    if not chosen and running is None:
        raise NoServer(
            f"No server is running on this machine with its data in {home()}. Start one with `timemachine up` (in a clone: `make up`), or "
            "set TIMEMACHINE_URL and TIMEMACHINE_API_KEY for another one."
        )
    here = _checked_url(running.url) if running else None
    url = _checked_url(chosen) if chosen else here or ""
    key = _given_key(environment) or (_local_key() if url == here else None)
    return Server(url=url, key=_checked_key(key) if key else None)


def _given_key(environment: Mapping[str, str]) -> str:
    try:
        return secret("TIMEMACHINE_API_KEY", environment)
    except Unavailable as why:
        raise NoServer(why.message, code="not_a_key") from why


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
            f"{text[:200]!r} is not the URL of a server. Set TIMEMACHINE_URL to a URL like http://127.0.0.1:8000.",
            code="not_an_address",
        )
    return text.rstrip("/")


def _checked_key(key: str) -> str:
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise NoServer(
            "The API key contains invalid characters. Copy it again into TIMEMACHINE_API_KEY.",
            code="not_a_key",
        )
    return key


def _local_key() -> str | None:
    try:
        return local_key_file().read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
