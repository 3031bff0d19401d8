"""A moment in what a program sends: RFC 3339 with its zone, and no further ahead than clocks go wrong."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

from timemachine.core.pure.clock import now

_WRITTEN: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", re.DOTALL)
_AHEAD: Final = timedelta(days=1)


def _as_text(given: Any) -> Any:
    if given is not None and not (isinstance(given, str) and _WRITTEN.fullmatch(given)):
        raise ValueError("it is a time, as 2026-11-23T18:00:00Z")
    return given


def _not_ahead(at: datetime) -> datetime:
    if at > now() + _AHEAD:
        raise ValueError(
            "it lies more than a day ahead of this server's clock; what is recorded has happened, so look at the clock that said it"
        )
    return at


Happened = Annotated[AwareDatetime, BeforeValidator(_as_text), AfterValidator(_not_ahead)]
"""When something happened that is recorded. A number is refused, as is a time more than a day ahead of the server's."""
