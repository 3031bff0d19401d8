"""Run the command in this process and capture its output."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from timemachine.cli.main import cli
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import ApiKey, Project
from timemachine.governance.sharing.models import ShareLink
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.models import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The exit code and output of a run."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The output of `--json`: exactly one document."""
        assert self.code == 0, self
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """A terminal in an empty folder."""

    folder: Path

    def run(self, *words: str, given: str | bytes | None = None, **environment: str | None) -> Ran:
        """Run the command; whatever happens must end in an exit code."""
        done = CliRunner().invoke(cli, list(words), input=given, env=environment)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ran(code=done.exit_code, out=done.stdout, err=done.stderr)

    def file(self, name: str, content: str | bytes) -> str:
        """Write a file with this content."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here(Terminal):
    """A terminal with a server and a key of a project."""

    project: Project
    url: str

    def json(self, *words: str, given: str | bytes | None = None) -> Any:
        """The document printed by a run with `--json`."""
        ran = self.run(*words, "--json", given=given)
        assert ran.err == ""
        return ran.document

    def refused(self, *words: str, given: str | bytes | None = None, **environment: str | None) -> str:
        """The one-line error of a refused run; nothing may have changed."""
        with self.unchanged():
            ran = self.run(*words, given=given, **environment)
        assert (ran.code, ran.out) == (1, ""), ran
        assert ran.err.count("\n") == 1, ran.err
        return ran.err

    def key(self, *scopes: str) -> str:
        """A key of this project with these scopes."""
        return make_api_key(self.project, name="narrow", scopes=scopes)[1]

    @contextmanager
    def unchanged(self) -> Generator[None]:
        """Check that nothing stored changes meanwhile."""
        before = everything()
        yield
        assert everything() == before


def everything() -> dict[str, Any]:
    """Everything stored that a command could change."""
    return {
        "sessions": list(Session.objects.order_by("id").values()),
        "actions": Action.objects.count(),
        "collections": list(Collection.objects.order_by("id").values()),
        "frames": list(Frame.objects.order_by("id").values("id", "valid_until")),
        "replays": list(Replay.objects.order_by("id").values("id", "status")),
        "links": list(ShareLink.objects.order_by("id").values("id", "revoked_at")),
        "keys": list(ApiKey.objects.order_by("id").values("id", "revoked_at")),
    }
