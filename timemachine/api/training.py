"""Training pairs over HTTP: a line each, streamed; and a report of what was left out and why."""

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router

from timemachine.api.access import caller
from timemachine.api.openapi import file_answer
from timemachine.memory.training.jsonl import report_of, streamed_pairs
from timemachine.memory.training.schemas import TrainingFilter, TrainingReport

router = Router(tags=["memory"])


@router.get("", summary="Training pairs", openapi_extra=file_answer("application/x-ndjson"))
def pairs(request: HttpRequest, filters: Query[TrainingFilter]) -> StreamingHttpResponse:
    """JSON lines from ended sessions with a turn of significance `solution` or `breakthrough`, set by the recorder or by a person.

    `form` is `chat` (`{"messages": […]}`, OpenAI's for fine-tuning) or `dpo` (`prompt`, `chosen`, `rejected`; one for each attempt that the record
    shows to be rejected). `what` tells the problem and its `resolution`, or the whole `chain`. `part` is one of `train`, `valid` and `test`, by a
    hash of `seed` and the session's id along `shares`. What the `redaction` profile finds is withheld.
    """
    return streamed_pairs(caller(request, "read").project, filters.options())


@router.get("/report", response=TrainingReport, summary="Count training pairs")
def report(request: HttpRequest, filters: Query[TrainingFilter]) -> TrainingReport:
    """How many pairs and sessions each part has, by which rule attempts were rejected, what was withheld, what was left out and why, and the `first` pairs.

    Sessions that would take too long to read are `unread`: they are in the pairs, but in none of these numbers.
    """
    return report_of(caller(request, "read").project, filters.options())
