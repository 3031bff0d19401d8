"""A new field of a step is handled wherever fields are listed by name: seals, exports and imports."""

from dataclasses import fields

from timemachine.evidence.sealing.session_records import _COLUMNS, PAYLOADS
from timemachine.recording.importing.pure.formats.timemachine import _ACTION
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft

NOT_SEALED = {
    "id": "it is the database's",
    "project_id": "the header of the log names the project",
    "session_id": "the header of the record names the session",
    "label": "it is computed from the sealed fields",
}
READ_SEPARATELY = {
    "tags",
    "started_at",
    "input",
    "output",
    "error_type",
    "error_message",
    "usage",
    "cost_usd",
    "saved_usd",
    "retrieval",
    "source",
}


def test_every_column_of_a_step_is_sealed_or_listed_as_not_sealed() -> None:
    sealed = {
        f"{name}_id" if name in PAYLOADS else name for name in (each.split("__")[0] for each in _COLUMNS)
    }
    assert {each.attname for each in Action._meta.concrete_fields} == sealed | set(NOT_SEALED)


def test_every_recordable_field_is_read_from_our_own_export() -> None:
    assert {each.name for each in fields(ActionDraft)} == set(_ACTION) | READ_SEPARATELY
