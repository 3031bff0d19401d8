"""Where each agent writes its transcripts on this machine."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 256 * 1024
_FOLDER: Final = re.compile(rb'"(?:cwd|directory)"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, the format of its transcripts, the folders that they are in, and the patterns of their names."""

    name: str
    format: str
    folders: Callable[[Mapping[str, str]], list[Path]]
    patterns: tuple[str, ...]


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _claude(environment: Mapping[str, str]) -> list[Path]:
    chosen = [each.strip() for each in environment.get("CLAUDE_CONFIG_DIR", "").split(",") if each.strip()]
    home = _home(environment)
    roots = [Path(each).expanduser() for each in chosen] or [home / ".claude", home / ".config" / "claude"]
    return [root / "projects" for root in roots]


def _codex(environment: Mapping[str, str]) -> list[Path]:
    chosen = environment.get("CODEX_HOME", "").strip()
    root = Path(chosen).expanduser() if chosen else _home(environment) / ".codex"
    return [root / "sessions", root / "archived_sessions"]


def _gemini(environment: Mapping[str, str]) -> list[Path]:
    chosen = environment.get("GEMINI_CLI_HOME", "").strip()
    return [(Path(chosen).expanduser() if chosen else _home(environment)) / ".gemini" / "tmp"]


def _opencode(environment: Mapping[str, str]) -> list[Path]:
    chosen = environment.get("XDG_DATA_HOME", "").strip()
    data = Path(chosen).expanduser() if chosen else _home(environment) / ".local" / "share"
    return [data / "opencode"]


AGENTS: Final = {
    each.name: each
    for each in (
        Agent(name="claude-code", format="claude_code", folders=_claude, patterns=("*.jsonl",)),
        Agent(name="codex", format="codex", folders=_codex, patterns=("rollout-*.jsonl",)),
        Agent(
            name="gemini",
            format="gemini_cli",
            folders=_gemini,
            patterns=("session-*.jsonl", "session-*.json"),
        ),
        Agent(name="opencode", format="opencode", folders=_opencode, patterns=()),
    )
}


def transcripts_in(folder: Path, patterns: Sequence[str], unreadable: list[OSError]) -> Iterator[Path]:
    """Yield the transcripts in a folder and those below it; the folders that cannot be read are added to `unreadable`."""
    expressions = [re.compile(each.replace(".", r"\.").replace("*", ".*")) for each in patterns]

    def failed(why: OSError) -> None:
        if not isinstance(why, FileNotFoundError):
            unreadable.append(why)

    for where, _, names in os.walk(folder, onerror=failed):
        for name in sorted(names):
            if any(each.fullmatch(name) for each in expressions):
                yield Path(where) / name


def working_folder(head: bytes) -> Path | None:
    """Return the folder that the agent worked in, which the beginning of its transcript names."""
    found = _FOLDER.search(head)
    if found is None:
        return None
    try:
        return Path(json.loads(found[1]))
    except ValueError:
        return None
