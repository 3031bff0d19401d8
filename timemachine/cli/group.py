"""Groups of commands."""

import click


class InOrder(click.Group):
    """A group that lists its commands in the order in which one comes to need them, not by their letters."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's form
        """The commands as they were added."""
        return list(self.commands)
