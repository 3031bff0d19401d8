"""Addresses of the sessions and of what is in them."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from timemachine.web.views import (
    branches,
    exporting,
    notes,
    session_totals,
    sessions,
    shortcuts,
    significance,
    suggest,
    tail,
    timeline,
    transcripts,
)


class SessionId(StringConverter):
    """The uuid or the key of a session; an address with anything else in its place is no address."""

    regex = "[A-Za-z0-9._:@-]{1,200}"


class Sha256(StringConverter):
    """A SHA-256 in lower-case hex."""

    regex = "[0-9a-f]{64}"


register_converter(SessionId, "session")
register_converter(Sha256, "sha256")

urlpatterns = [
    path("", sessions.sessions, name="sessions"),
    path("sessions/", RedirectView.as_view(pattern_name="sessions", query_string=True)),
    path("shortcuts/", shortcuts.switch, name="shortcuts"),
    path("sessions/<session:id>/", timeline.timeline, name="timeline"),
    path("sessions/<session:id>/suggest/", suggest.suggest, name="suggest"),
    path("sessions/<session:id>/tail/", tail.tail, name="tail"),
    path("sessions/<session:id>/totals/", session_totals.totals, name="session_totals"),
    path("sessions/<session:id>/notes/", notes.notes, name="session_notes"),
    path("sessions/<session:id>/notes/<uuid:note>/", notes.note, name="note"),
    path("sessions/<session:id>/notes/<uuid:note>/delete/", notes.delete, name="delete_note"),
    path("sessions/<session:id>/branches/", branches.branches, name="branches"),
    path("sessions/<session:id>/transcript/", transcripts.transcript, name="transcript"),
    path("sessions/<session:id>/transcript/<str:form>", transcripts.file, name="transcript_file"),
    path("sessions/<session:id>/significance/", significance.significance, name="significance"),
    path("sessions/<session:id>/significance/answer/", significance.answer, name="answer_proposal"),
    path("sessions/<session:id>/significance/compress/", significance.compress, name="compress_session"),
    path("sessions/<session:id>/significance/summarise/", significance.summarise, name="summarise"),
    path("settings/compression/", significance.rule, name="compression_rule"),
    path("sessions/<session:id>/export/", exporting.choose, name="session_export"),
    path("sessions/<session:id>/export/<str:format_name>", exporting.file, name="export_file"),
    path("sessions/<session:id>/payloads/<sha256:sha256>", sessions.payload, name="payload"),
]
