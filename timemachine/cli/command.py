"""The classes of commands and groups, and the hint at the next page of a list."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypedDict

import click
from click.core import ParameterSource

from timemachine.cli.terminal import print_error

_NOT_REPEATED: Final = {"after", "as_json"}


class HasNext(TypedDict):
    """What a page of a list has: the cursor of the next page."""

    next: str | None


class OneEach(click.Command):
    """A command that rejects an option with one value if it is given twice; click would ignore the first one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line. Raises `UsageError`."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        times = Counter(each for each in given if isinstance(each, click.Option))
        for option, number in times.items():
            if number > 1 and not (option.multiple or option.is_flag or option.count):
                raise click.UsageError(f"{option.opts[-1]} is given {number} times; give it once.", ctx)
        return super().parse_args(ctx, args)


class InOrder(click.Group):
    """A group that lists its commands in the order in which they were added, not by name."""

    command_class = OneEach

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names of the commands in the order in which they were added."""
        return list(self.commands)


def suggest_next_page(found: HasNext, *, of: str = "", command: Sequence[str] = ()) -> None:
    """Print the command that shows the next page to standard error, if there is one.

    It repeats the command line with `--after`, or uses `command` if the command itself has no pages.
    """
    if found["next"]:
        next_command = shlex.join(["timemachine", *(command or _given()), "--after", found["next"]])
        print_error(f"There are more{of and f' {of}'}: {next_command}")


def _given() -> Iterator[str]:
    """The words of the command line without `--after` and `--json`."""
    context = click.get_current_context()
    yield from context.command_path.split()[1:]
    for each in context.command.params:
        name = each.name or ""
        if name in _NOT_REPEATED or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(each, click.Option):
            yield from _option(each, value)
        else:
            yield str(value)


def _option(option: click.Option, value: Any) -> Iterator[str]:
    if option.is_flag:
        yield (option.secondary_opts if value is False else option.opts)[-1]
        return
    for one in value if option.multiple else [value]:
        yield from (option.opts[-1], str(one))
