"""Training pairs over HTTP: a line each, streamed; and a report of what was left out and why."""

from typing import Any, Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router
from pydantic import Field

from timemachine.api.access import caller
from timemachine.api.described import file_answer
from timemachine.core.pure.schemas import Strict
from timemachine.memory.training.jsonl import reported, sent
from timemachine.memory.training.pure.options import Wanted, wanted_of
from timemachine.memory.training.pure.split import LONGEST_SEED, SEED

router = Router(tags=["memory"])


class TrainingFilter(Strict):
    """Which pairs of which sessions, and in what form; an empty text asks for any session."""

    form: Literal["chat", "dpo"] = "chat"
    what: Literal["resolution", "chain"] = "resolution"
    part: Literal["train", "valid", "test", ""] = ""
    seed: str = Field(SEED, max_length=LONGEST_SEED)
    shares: str = "80,10,10"
    redaction: str = "built-in"
    agent: str = ""
    user: str = ""
    tag: str = ""
    q: str = ""
    since: str = ""
    until: str = ""

    def wanted(self) -> Wanted:
        """What is asked for. Raises `InvalidInput`."""
        return wanted_of(**self.model_dump())


@router.get("", summary="Training pairs", openapi_extra=file_answer("application/x-ndjson"))
def pairs(request: HttpRequest, wanted: Query[TrainingFilter]) -> StreamingHttpResponse:
    """JSON lines from ended sessions with a turn of significance `solution` or `breakthrough`, given by the recorder or by a person.

    `form` is `chat` (`{"messages": […]}`, OpenAI's for fine-tuning) or `dpo` (`prompt`, `chosen`, `rejected`; one for each attempt that the record
    shows to be rejected). `what` tells the problem and its `resolution`, or the whole `chain`. `part` is one of `train`, `valid` and `test`, by a
    hash of `seed` and the session's id along `shares`. What the `redaction` profile finds is withheld.
    """
    return sent(caller(request, "read").project, wanted.wanted())


@router.get("/report", summary="What training pairs there are, and what is left out")
def report(request: HttpRequest, wanted: Query[TrainingFilter]) -> dict[str, Any]:
    """How many pairs and sessions each part has, by which rule attempts were rejected, what was withheld, what was left out and why, and the `first` pairs.

    Sessions beyond what is read while somebody waits are `unread`: they are in the pairs, and in none of these numbers.
    """
    return reported(caller(request, "read").project, wanted.wanted())
