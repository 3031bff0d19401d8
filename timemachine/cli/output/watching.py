"""What `watch` prints: a status line for each session."""

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from timemachine.cli.formatting import one_line, shortened
from timemachine.cli.terminal import Replaced, is_terminal, print_error, print_line, wants_json
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.watching.watcher import Update

_EVERY_SECONDS: Final = 60.0
"""How often a session has a line in a file, at most."""


@dataclass(slots=True)
class _Grown:
    """A session with its new steps that are not printed yet; `at` is when it last had a line."""

    latest: "Update"
    added: int = 0
    at: float = -_EVERY_SECONDS


class Status:
    """Prints updates. In a terminal, a session has one line, which counts its new steps; in a file, a line each minute in which it
    grew. With `--json`, each update is a line."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Grown] = {}
        self._replaced = Replaced() if is_terminal() else None

    def add(self, update: "Update") -> None:
        """Print an update, or keep it for the next line of its session."""
        if wants_json():
            print_line(json.dumps(as_json(update), ensure_ascii=False))
        elif update.session is None:
            self.say(f"{update.agent}: {update.path}: {update.problem}")
        else:
            name = str(update.session["id"])
            grown = self._sessions.setdefault(name, _Grown(update))
            grown.latest, grown.added = update, grown.added + update.added
            if self._replaced is not None:
                self._replaced.put(name, line(grown.latest, grown.added))
            else:
                self.pass_on()

    def say(self, message: str) -> None:
        """Print an error between the lines."""
        print_error(message)
        if self._replaced is not None:
            self._replaced.leave()

    def pass_on(self, *, is_end: bool = False) -> None:
        """Print the lines that are due in a file, at the end all of them."""
        now = time.monotonic()
        for each in self._sessions.values() if self._replaced is None else ():
            if each.added and (is_end or now - each.at >= _EVERY_SECONDS):
                added, each.added, each.at = each.added, 0, now
                print_line(line(each.latest, added))


def line(update: "Update", added: int) -> str:
    """Return the line of a session."""
    session = update.session or {}
    name = shortened(one_line(session["name"]))
    return f"{update.agent}  {name}  {counted(added, 'new step')}  {session['url']}"


def as_json(update: "Update") -> dict[str, Any]:
    """Return an update as a JSON object."""
    session = update.session or {}
    about = {name: session.get(name) for name in ("id", "key", "name", "url")} if session else None
    return {
        "agent": update.agent,
        "file": str(update.path),
        "session": about,
        "added": update.added,
        "problem": update.problem,
    }
