"""The data folder of this machine, and the note in it through which programs find a running server."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """The content of `server.json`, which `make up` writes while the server runs.

    The URLs of its database are those of the embedded one, which have no password. They are empty if it uses another one.
    """

    pid: int
    url: str
    database_url: str = ""
    database_owner_url: str = ""


DATABASE_IS_ELSEWHERE: Final = (
    "The server that runs here uses a database of your own: set DATABASE_URL as for that server."
)


def home() -> Path:
    """Return the data folder: `TIMEMACHINE_HOME`, or `timemachine` in the user's data directory."""
    chosen = os.environ.get("TIMEMACHINE_HOME", "").strip()
    if chosen:
        return Path(chosen).expanduser().resolve()
    data = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(data) if data else Path.home() / ".local" / "share") / "timemachine"


def secret_key_file() -> Path:
    """Return the path of the file with this machine's `SECRET_KEY`."""
    return home() / "secret-key"


def local_key_file() -> Path:
    """Return the path of the file with the API key of this machine's `timemachine` command."""
    return home() / "local-key"


def announce(server: RunningServer) -> None:
    """Write the note that a server runs here."""
    write_private(home() / "server.json", json.dumps(asdict(server), indent=2) + "\n")


def withdraw() -> None:
    """Remove the note."""
    (home() / "server.json").unlink(missing_ok=True)


def running_server() -> RunningServer | None:
    """Return the server that the note names, or None if there is no complete note."""
    try:
        return RunningServer(**json.loads((home() / "server.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read. Replaces an existing file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)
