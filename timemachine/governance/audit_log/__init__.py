"""The audit log of a project: its chain, reading it, exporting it, and forwarding it. `core.audit` records what it contains."""
