"""The API as a whole: `/api/…`, JSON, one bearer key, one form of error; OpenAPI at /api/openapi.json."""

from typing import Any

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.parser import Parser

from timemachine.api import actions as _actions  # noqa: F401  # adds to sessions.router
from timemachine.api import (
    asks,
    audit_log,
    collections,
    comparisons,
    costs,
    deletion,
    errors,
    evidence,
    files,
    imports,
    judgements,
    models,
    patterns,
    project,
    redactions,
    replays,
    search,
    sessions,
    shares,
    suites,
    training,
    transcripts,
)
from timemachine.api.access import BearerKey
from timemachine.api.openapi import with_refusals
from timemachine.api.requests import known_parameters_only
from timemachine.core.pure.content import parse_json


class StrictParser(Parser):
    """Reads a body as strict JSON: what is not gets one clear sentence."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The JSON value in the body."""
        return parse_json(request.body)


class Api(NinjaAPI):
    """The API, whose document names every answer."""

    def get_openapi_schema(self, **named: Any) -> Any:
        """The OpenAPI document."""
        return with_refusals(super().get_openapi_schema(**named))


api = Api(
    title="Time Machine",
    version="1",
    description="Record what an AI agent did, walk through it, replay it, share it.",
    auth=BearerKey(),
    parser=StrictParser(),
    urls_namespace="api",
)
errors.install(api)
api.add_decorator(known_parameters_only)
api.add_router("/sessions", sessions.router)
api.add_router("/replays", replays.router)
api.add_router("/compare", comparisons.alignments)
api.add_router("/comparisons", comparisons.router)
api.add_router("/compressions", transcripts.compressions)
api.add_router("/asks", asks.router)
api.add_router("/collections", collections.router)
api.add_router("/collections", files.router)
api.add_router("/intakes", files.intakes)
api.add_router("/import", imports.router)
api.add_router("/imports", imports.kept)
api.add_router("/search", search.router)
api.add_router("/recall", search.recalls)
api.add_router("/patterns", patterns.router)
api.add_router("/shares", shares.router)
api.add_router("/redactions", redactions.router)
api.add_router("/evidence", evidence.router)
api.add_router("/audit-log", audit_log.router)
api.add_router("/erasures", deletion.erasures)
api.add_router("/holds", deletion.holds)
api.add_router("/forgettings", deletion.router)
api.add_router("/retention", deletion.rules)
api.add_router("/training", training.router)
api.add_router("/suites", suites.router)
api.add_router("/sweeps", replays.sweeps)
api.add_router("/costs", costs.router)
api.add_router("/models", models.router)
api.add_router("/answer-cache", asks.cache)
api.add_router("/ground", judgements.router)
api.add_router("", project.router)
