"""Where this machine keeps its data, and the note by which its programs find a running server."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """What `make up` leaves in `HOME/server.json` while it runs."""

    pid: int
    url: str
    database_url: str
    broker_url: str


def home() -> Path:
    """The data folder: `TIMEMACHINE_HOME`, else `timemachine` in the user's data directory."""
    chosen = os.environ.get("TIMEMACHINE_HOME", "").strip()
    if chosen:
        return Path(chosen).expanduser().resolve()
    data = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(data) if data else Path.home() / ".local" / "share") / "timemachine"


def secret_key_file() -> Path:
    """The file with the key that signs cookies on this machine."""
    return home() / "secret-key"


def local_key_file() -> Path:
    """The file with the API key that the `timemachine` command on this machine uses."""
    return home() / "local-key"


def announce(server: RunningServer) -> None:
    """Leave the note that a server runs here."""
    write_private(home() / "server.json", json.dumps(asdict(server), indent=2) + "\n")


def withdraw() -> None:
    """Take the note away."""
    (home() / "server.json").unlink(missing_ok=True)


def running_server() -> RunningServer | None:
    """The server that the note names, or None where there is no note (or half of one)."""
    try:
        return RunningServer(**json.loads((home() / "server.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)
