"""The `timemachine` command and its exit codes. It uses the HTTP API of a server and never imports Django."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from timemachine.cli import terminal
from timemachine.cli.command import InOrder
from timemachine.cli.commands.asks import ask, find, ground
from timemachine.cli.commands.audit_log import audit_log
from timemachine.cli.commands.backups import backup, restore, upgrade
from timemachine.cli.commands.comparisons import comparison
from timemachine.cli.commands.costs import costs
from timemachine.cli.commands.doctor import doctor
from timemachine.cli.commands.evidence import evidence
from timemachine.cli.commands.keys import key
from timemachine.cli.commands.mcp import mcp
from timemachine.cli.commands.patterns import patterns
from timemachine.cli.commands.proxy import proxy
from timemachine.cli.commands.puts import put, reembed
from timemachine.cli.commands.recall import recall, search
from timemachine.cli.commands.retention import retention
from timemachine.cli.commands.server import demo, manage, models, status, up
from timemachine.cli.commands.session.sessions import session
from timemachine.cli.commands.shares import share
from timemachine.cli.commands.spool import spool
from timemachine.cli.commands.suites import suite
from timemachine.cli.commands.training import training
from timemachine.cli.commands.watch import watch
from timemachine.cli.failure import Interrupted, OutputClosed, OutputFailed
from timemachine.client.errors import ClientError
from timemachine.core.pure.errors import TimeMachineError


class Root(InOrder):
    """The root of all commands. Every failure ends with an exit code and at most one line, never with a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run and exit with the exit code."""
        terminal.use_utf8()
        run = super().main
        sys.exit(_exit_code(lambda: run(*args, **{**kwargs, "standalone_mode": False})))


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Set TIMEMACHINE_URL to the URL of the server and TIMEMACHINE_API_KEY to an API key. A server started on this machine "
    "with `make up` or `timemachine up` needs neither.",
)
@click.version_option(package_name="timemachine-client", message="timemachine %(version)s")
def cli() -> None:
    """Record AI agents, step through what they did, replay it with one thing changed, and share it."""


for command in (
    up,
    demo,
    status,
    doctor,
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
    audit_log,
    watch,
    proxy,
    mcp,
    models,
    key,
    spool,
    backup,
    restore,
    upgrade,
    manage,
):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the console script."""
    sys.excepthook = terminal.report_bug
    cli.main(prog_name="timemachine")


def _exit_code(run: Callable[[], Any]) -> int:
    try:
        code = _outcome(run)
        terminal.flush()
    except OutputClosed:
        terminal.discard_output()
        return 0
    except OutputFailed as why:
        terminal.discard_output()
        terminal.print_error(why.message)
        return why.exit_code
    except (click.Abort, KeyboardInterrupt):
        return Interrupted.exit_code
    return code


def _outcome(run: Callable[[], Any]) -> int:
    """The exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 a `--fail-on` condition held or a signer was not checked, 130
    interrupted.
    """
    try:
        code = run()
    except OutputFailed:
        raise
    except click.UsageError as why:
        why.show()
        return why.exit_code
    except click.ClickException as why:
        terminal.print_error(why.message)
        return why.exit_code
    except (ClientError, TimeMachineError) as why:
        terminal.print_error(why.message)
        return 1
    except OSError as why:  # from click itself, for example for --help
        raise OutputFailed(f"Cannot write the output: {why.strerror}.") from why
    except (LookupError, TypeError, AttributeError) as why:
        terminal.print_error(
            f"Unexpected answer from the server ({type(why).__name__}: {why}). "
            "Check that the server and this command are the same version."
        )
        return 1
    return code if isinstance(code, int) else 0
