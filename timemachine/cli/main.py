"""The `timemachine` command: what it offers, and how it ends. It talks to a server through the HTTP API and never imports Django."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from timemachine.cli import terminal
from timemachine.cli.commands.comparisons import comparison
from timemachine.cli.commands.costs import costs
from timemachine.cli.commands.embedding import reembed
from timemachine.cli.commands.evidence import evidence
from timemachine.cli.commands.keys import key
from timemachine.cli.commands.models import models
from timemachine.cli.commands.patterns import patterns
from timemachine.cli.commands.puts import put
from timemachine.cli.commands.recall import recall
from timemachine.cli.commands.records import ask, find, ground
from timemachine.cli.commands.retention import retention
from timemachine.cli.commands.search import search
from timemachine.cli.commands.server import demo, status, up
from timemachine.cli.commands.sessions import session
from timemachine.cli.commands.shares import share
from timemachine.cli.commands.spool import spool
from timemachine.cli.commands.suites import suite
from timemachine.cli.commands.training import training
from timemachine.cli.failure import Interrupted, NotWritten, ReaderGone
from timemachine.cli.group import InOrder
from timemachine.client.errors import ClientError
from timemachine.core.pure.errors import TimeMachineError


class Root(InOrder):
    """The root of all commands: whatever happens ends in an exit code and at most one line, never in a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run, and leave with the exit code."""
        terminal.prepare()
        run = super().main
        sys.exit(_finished(lambda: run(*args, **{**kwargs, "standalone_mode": False})))


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="It talks to the server that TIMEMACHINE_URL names, with the key in TIMEMACHINE_API_KEY; a server that "
    "`make up` or `timemachine up` runs on this machine is found without either.",
)
@click.version_option(package_name="timemachine", message="timemachine %(version)s")
def cli() -> None:
    """Record what an AI agent did, walk through it, replay it with one thing changed, and share it."""


for command in (
    up,
    demo,
    status,
    put,
    find,
    ask,
    ground,
    search,
    recall,
    patterns,
    reembed,
    session,
    comparison,
    suite,
    retention,
    training,
    costs,
    share,
    evidence,
    models,
    key,
    spool,
):
    cli.add_command(command)


def main() -> NoReturn:
    """The console script."""
    sys.excepthook = terminal.admit
    cli.main(prog_name="timemachine")


def _finished(run: Callable[[], Any]) -> int:
    try:
        code = _outcome(run)
        terminal.finish()
    except ReaderGone:
        terminal.give_up_output()
        return 0
    except NotWritten as why:
        terminal.give_up_output()
        terminal.complain(why.message)
        return why.exit_code
    except (click.Abort, KeyboardInterrupt):
        return Interrupted.exit_code
    return code


def _outcome(run: Callable[[], Any]) -> int:
    """The exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 a `--fail-on` condition held, 130 interrupted."""
    try:
        code = run()
    except NotWritten:
        raise
    except click.UsageError as why:
        why.show()
        return why.exit_code
    except click.ClickException as why:
        terminal.complain(why.message)
        return why.exit_code
    except (ClientError, TimeMachineError) as why:
        terminal.complain(why.message)
        return 1
    except OSError as why:  # click's own writing, as of --help
        raise NotWritten(f"The output could not be written ({why.strerror}).") from why
    except (LookupError, TypeError, AttributeError) as why:
        terminal.complain(
            f"The server's answer is not what this command expects ({type(why).__name__}: {why}); "
            "see that server and command are of one version."
        )
        return 1
    return code if isinstance(code, int) else 0
