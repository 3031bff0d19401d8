"""The door for terminals: the `timemachine` command."""
