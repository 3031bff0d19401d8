"""Large and compressed files, over the API and on the import page."""

import gzip
import json
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django.fixtures import Settings

from tests.api.conftest import Program
from tests.core.accounts.people import member
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.exporting import export_session
from timemachine.recording.importing.models import FileImport, FilePart
from timemachine.recording.importing.pure.formats.timemachine import FORMAT, VERSION
from timemachine.recording.importing.worker import PART_BYTES, work
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024
SENT: dict[str, Any] = {"content_type": "application/octet-stream"}


def own_export(size: int, each: int) -> bytes:
    """An export in our own format whose messages have this many bytes in total."""
    actions = [
        {
            "sequence": number,
            "kind": "message",
            "layer": "agent",
            "role": "agent",
            "output": f"{number} " + "x" * each,
        }
        for number in range(1, size // each + 1)
    ]
    about = {"format": FORMAT, "version": VERSION, "key": "large", "name": "Large", "through": len(actions)}
    return "\n".join(json.dumps(line) for line in [about, *actions]).encode()


@pytest.fixture
def operator(project: Project) -> Client:
    client = Client()
    client.force_login(member(project, "operator").user)
    return client


def test_an_export_over_the_request_limit_is_imported_over_the_api(api: Program, settings: Settings) -> None:
    settings.MAX_REQUEST_BYTES = 2 * MIB
    file = own_export(10 * MIB, MIB)
    assert len(file) > 2 * PART_BYTES
    begun = api.client.post("/api/import", file, headers=api._headers, **SENT)
    assert begun.status_code == 202
    found = FileImport.objects.get()
    assert (found.size, len(found.data), begun.json()) == (len(file), 0, {"import_id": str(found.id)})
    work(found.id)
    body = api.get(f"/imports/{found.id}").json()
    assert (body["status"], body["error"], body["sessions"][0]["actions"]) == ("done", None, 10)
    session = Session.objects.get(key="large")
    repeated = b"".join(export_session(session).parts)
    assert [json.loads(line).get("output") for line in repeated.splitlines()] == [
        json.loads(line).get("output") for line in file.splitlines()
    ]
    assert not FilePart.objects.exists()


@pytest.mark.parametrize("encoding", [{}, {"Content-Encoding": "gzip"}])
def test_a_compressed_file_is_imported_over_the_api(api: Program, encoding: dict[str, str]) -> None:
    packed = gzip.compress(own_export(2_000, 1_000))
    done = api.client.post("/api/import", packed, headers=api._headers | encoding, **SENT)
    assert done.status_code == 201
    assert done.json()["sessions"][0]["actions"] == 2


def test_the_uncompressed_size_decides_whether_a_worker_imports_a_file(
    api: Program, settings: Settings
) -> None:
    settings.MAX_REQUEST_BYTES = 1_000
    packed = gzip.compress(own_export(9_000, 1_000))
    assert len(packed) < 1_000
    assert api.client.post("/api/import", packed, headers=api._headers, **SENT).status_code == 202


def test_a_decompression_bomb_and_a_file_over_the_limit_are_refused(api: Program, settings: Settings) -> None:
    settings.MAX_IMPORT_BYTES = 10_000
    for file in (gzip.compress(bytes(20_000)), bytes(20_000)):
        refused = api.client.post("/api/import", file, headers=api._headers, **SENT)
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert refused.json()["facts"] == {"limit_bytes": 10_000}
    assert not FileImport.objects.exists()


def test_a_form_upload_is_refused_with_what_to_send_instead(api: Program) -> None:
    form = {"file": SimpleUploadedFile("a.jsonl", own_export(2_000, 1_000))}
    refused = api.client.post("/api/import", form, headers=api._headers)
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_media_type")
    assert "--data-binary @FILE" in refused.json()["message"]


def test_an_unsupported_content_encoding_is_refused(api: Program) -> None:
    refused = api.client.post("/api/import", b"x", headers=api._headers | {"Content-Encoding": "br"}, **SENT)
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_media_type")


def test_a_truncated_body_is_refused(api: Program) -> None:
    file = own_export(2_000, 1_000)
    broken_off: dict[str, Any] = {"wsgi.input": BytesIO(file[:-100])}
    refused = api.client.post("/api/import", file, headers=api._headers, **SENT, **broken_off)
    assert (refused.status_code, refused.json()["code"]) == (422, "unreadable")
    assert not Session.objects.exists()


def test_a_body_without_a_content_length_is_refused_with_advice(api: Program) -> None:
    chunked = api._headers | {"Transfer-Encoding": "chunked"}
    unsaid: dict[str, Any] = {"CONTENT_LENGTH": ""}
    refused = api.client.post("/api/import", own_export(2_000, 1_000), headers=chunked, **SENT, **unsaid)
    assert (refused.status_code, refused.json()["code"]) == (422, "unreadable")
    assert "Content-Length" in refused.json()["message"]


def test_the_page_accepts_compressed_files_and_leaves_large_ones_to_a_worker(operator: Client) -> None:
    small = SimpleUploadedFile("small.jsonl.gz", gzip.compress(own_export(2_000, 1_000)))
    assert operator.post("/import/", {"file": small})["Location"] == "/import/done/"
    assert Action.objects.count() == 2
    large = SimpleUploadedFile("large.jsonl.gz", gzip.compress(own_export(6_000_000, 1_000_000)))
    address = operator.post("/import/", {"file": large})["Location"]
    assert address == f"/imports/{FileImport.objects.get().id}/"


def test_the_page_refuses_a_decompression_bomb_with_a_message(operator: Client, settings: Settings) -> None:
    settings.MAX_IMPORT_BYTES = 10_000
    page = operator.post("/import/", {"file": SimpleUploadedFile("a.gz", gzip.compress(bytes(20_000)))})
    assert page.status_code == 422
    assert "a.gz: The file is larger than 10,000 bytes" in page.context["form"].errors["file"][0]
