"""The base of every schema of the HTTP API.

A schema is the type of a resource everywhere: what an operation returns, what the OpenAPI document says, and what clients are generated
from. It lives in the `schemas.py` of its domain, beside the function that builds it.
"""

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """A resource as the API returns it, with these fields and no others.

    Build responses with `model_construct`: what the database holds needs no second check, and a recorded text may hold half a
    surrogate pair, which validation refuses. Mypy checks the fields; the API's tests validate every response against its schema.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")


class Page[Item](Schema):
    """A part of a list. `next` is the `after` of the next page, null on the last one."""

    items: list[Item]
    next: str | None
