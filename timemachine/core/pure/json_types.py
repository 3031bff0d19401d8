"""JSON that somebody else wrote: what an agent, a tool or a model vendor sent, kept as it is."""

from typing import Any

type JsonObject = dict[str, Any]
"""A JSON object of unknown shape."""
