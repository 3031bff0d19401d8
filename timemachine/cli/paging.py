"""How a list that has more goes on: the command that was given, from where its page ended."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click
from click.core import ParameterSource

from timemachine.cli.terminal import complain

_LEFT_OUT: Final = {"after", "as_json"}


def tell_more(found: dict[str, Any], *, of: str = "", command: Sequence[str] = ()) -> None:
    """Say on standard error that there are more, and the command that shows them; nothing where there are none.

    It is the command that was given, with all that it asked for, or another one, where that one does not go on.
    """
    if found["next"]:
        again = shlex.join(["timemachine", *(command or _given()), "--after", found["next"]])
        complain(f"There are more{of and f' {of}'}: {again}")


def _given() -> Iterator[str]:
    """The command as it was given, but for from where it goes on."""
    context = click.get_current_context()
    yield from context.command_path.split()[1:]
    for each in context.command.params:
        name = each.name or ""
        if name in _LEFT_OUT or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
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
