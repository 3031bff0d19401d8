"""JSON from outside: what an agent, a tool or a model vendor sent, kept as it is."""

from typing import Any

# not a `type` statement: Pydantic would describe every use in the OpenAPI document as a reference to it
JsonObject = dict[str, Any]
"""A JSON object of unknown shape."""
