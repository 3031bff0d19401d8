"""The command line interface: the `timemachine` command."""
