"""How a file ends that could not be written to its end, where a server can only end an answer as if it were whole. Pure."""

from typing import Final

CUT_OFF: Final = b'\n{"cut off": "It could not be written to its end; ask for it again."'
"""No JSON, no line of it and no archive is whole with this behind it."""
