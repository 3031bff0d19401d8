"""Groups of commands, and commands."""

from collections import Counter

import click


class OneEach(click.Command):
    """A command that refuses an option that is given twice and stands for one value: one of them would be left out without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line; an option twice is wrong usage."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        times = Counter(each for each in given if isinstance(each, click.Option))
        for option, number in times.items():
            if number > 1 and not (option.multiple or option.is_flag or option.count):
                raise click.UsageError(f"{option.opts[-1]} is given {number} times; give it once.", ctx)
        return super().parse_args(ctx, args)


class InOrder(click.Group):
    """A group that lists its commands in the order in which one comes to need them, not by their letters."""

    command_class = OneEach

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's form
        """The commands as they were added."""
        return list(self.commands)
