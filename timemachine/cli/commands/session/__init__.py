"""The subcommands of `session`."""
