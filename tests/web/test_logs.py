"""Logs contain no secrets and no recorded text."""

import io
import json
import logging
import logging.config
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests.database_roles import as_owner
from tests.web.people import browser_of
from timemachine.core.accounts.commands.keys import KeyText, make_api_key
from timemachine.core.accounts.models import SCOPES, Project
from timemachine.core.pure.ids import public_id, secret
from timemachine.core.pure.log_context import working_on
from timemachine.web.logs import WithoutSecrets, without_secrets

SECRET = "k9" * 21 + "x"  # as long as a real one, and the same in every process


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (f"Not Found: /sign-in/{SECRET}/", "Not Found: /sign-in/[secret]/"),
        (
            f"Forbidden (CSRF token missing.): /share/tms_abc_{SECRET}",
            "Forbidden (CSRF token missing.): /share/[secret]",
        ),
        (f'"GET /sign-in/{SECRET}/?a=1 HTTP/1.1" 200', '"GET /sign-in/[secret]/?a=1 HTTP/1.1" 200'),
        ("Unprocessable Content: /sign-in/", "Unprocessable Content: /sign-in/"),
        (f"next=/sign-in/{SECRET}/ and /share/{SECRET}", "next=/sign-in/[secret]/ and /share/[secret]"),
        ("/sessions/share/", "/sessions/share/"),
        (f"key tmk_abcdefghijkm_{SECRET} was sent", "key tmk_abcdefghijkm_[secret] was sent"),
    ],
)
def test_secrets_of_links_and_keys_are_removed(written: str, expected: str) -> None:
    assert without_secrets(written) == expected


@given(st.text())
def test_removing_secrets_twice_changes_nothing_more(text: str) -> None:
    once = without_secrets(f"/sign-in/{text}")
    assert without_secrets(once) == once


def test_the_secret_of_every_key_is_removed() -> None:
    for _ in range(200):
        key = KeyText(id=public_id(), secret=secret())
        assert key.secret not in without_secrets(f"Bearer {key}")


def test_a_message_is_cleaned_after_its_arguments_are_inserted() -> None:
    record = logging.LogRecord(
        "django.request", logging.WARNING, "", 0, "%s: %s", ("Not Found", f"/share/{SECRET}"), None
    )
    assert WithoutSecrets().filter(record)
    assert record.getMessage() == "Not Found: /share/[secret]"


def written_to(out: io.StringIO, form: str = "line") -> logging.Handler:
    """Return a handler as it is configured, with one of its formats."""
    configured = logging.config.DictConfigurator(settings.LOGGING)
    handler = logging.StreamHandler(out)
    handler.setFormatter(configured.configure_formatter(configured.config["formatters"][form]))
    handler.addFilter(configured.configure_filter(configured.config["filters"]["without_secrets"]))
    return handler


def logged(why: BaseException, message: str = "It failed: /share/%s", *values: object) -> str:
    """Return what the configured handler writes for an error."""
    handler = written_to(out := io.StringIO())
    values = values or (f"tms_abc_{SECRET}",)
    handler.handle(
        logging.LogRecord("x", logging.ERROR, "", 0, message, values, (type(why), why, why.__traceback__))
    )
    return out.getvalue()


def test_no_secret_is_in_the_traceback_of_an_error() -> None:
    with pytest.raises(ValueError, match="no such token") as why:
        raise ValueError(f"no such token: tms_abcdefghijkl_{SECRET} at /share/tms_abcdefghijkl_{SECRET}")
    text = logged(why.value)
    assert "Traceback" in text
    assert "ValueError: no such token: tms_abcdefghijkl_[secret] at /share/[secret]" in text
    assert SECRET not in text


@pytest.mark.django_db
def test_no_row_quoted_by_the_database_is_in_the_log() -> None:
    words = f"{SECRET}\nin two lines"  # which is in no source line that the traceback shows
    with as_owner() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE said (words text UNIQUE)")
        cursor.execute("INSERT INTO said VALUES (%s)", [words])
        with pytest.raises(IntegrityError) as why:
            cursor.execute("INSERT INTO said VALUES (%s)", [words])
    text = logged(why.value, "It failed: %r", why.value.__cause__)
    assert text.count("duplicate key value violates unique constraint") == 3
    assert "The above exception was the direct cause" in text
    assert SECRET not in text
    assert "in two" not in text


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """A function that returns what was logged as JSON."""
    handler, root = written_to(out := io.StringIO(), "json"), logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    root.removeHandler(handler)


type Lines = Callable[[], list[dict[str, Any]]]


@pytest.mark.parametrize("sent", ["5f0c2e7a-9b1d", "Root=1-67891233-abcdef", "a" * 128])
def test_a_wellformed_request_id_of_a_proxy_is_kept(db: None, lines: Lines, sent: str) -> None:
    answer = Client().get("/nope", headers={"X-Request-ID": sent})
    assert answer["X-Request-ID"] == sent
    assert f'Request ID <span class="mono">{sent}</span>' in answer.text
    assert [each["request_id"] for each in lines()] == [sent]


@pytest.mark.parametrize("sent", [None, "", "two words", "a\tb", "<b>", "ä", "a" * 129])
def test_any_other_request_gets_a_new_id(db: None, sent: str | None) -> None:
    headers = {} if sent is None else {"X-Request-ID": sent}
    first, second = (Client().get("/nope", headers=headers)["X-Request-ID"] for _ in range(2))
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert sent != first != second


def test_an_api_error_has_the_request_id_in_body_header_and_log(project: Project, lines: Lines) -> None:
    answer = Client().get("/api/sessions")
    assert answer.status_code == 401
    assert answer.json()["request_id"] == answer["X-Request-ID"] == lines()[-1]["request_id"]


def test_an_internal_error_says_where_to_look(project: Project, lines: Lines) -> None:
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_session RENAME TO tm_elsewhere")
    _, key = make_api_key(project, name="test", scopes=SCOPES)
    answer = Client().get("/api/sessions", headers={"Authorization": f"Bearer {key}"})
    request_id = answer["X-Request-ID"]
    assert answer.status_code == 500
    assert answer.json()["message"].endswith(f"in the server's log under the request ID {request_id}.")
    failed = next(each for each in lines() if each["request_id"] == request_id)
    assert (failed["level"], failed["message"]) == ("ERROR", "GET /api/sessions failed")
    assert 'relation "tm_session" does not exist' in failed["error"]


def test_no_name_of_a_refused_request_is_logged(project: Project, lines: Lines, settings: Settings) -> None:
    settings.LOG_REQUESTS = True
    name = "Kündigung-Müller"
    quoted = quote(name)
    browser = browser_of(project)
    _, key = make_api_key(project, name="test", scopes=["read"])
    headers = {"Authorization": f"Bearer {key}"}
    file = SimpleUploadedFile(f"{name}.pdf", b"not a recording")
    refused = [
        browser.get(f"/{quoted}/"),
        browser.get(f"/sessions/{quoted}/?q={quoted}"),
        browser.post("/import/", {"file": file}),
        browser.post(f"/sessions/{quoted}/notes/", {"text": name}),
        Client(enforce_csrf_checks=True).post(f"/collections/{quoted}/", {"a": name}),
        Client().get(f"/api/sessions/{quoted}", headers=headers),
        Client().get(f"/api/{quoted}", headers=headers),
        Client().put(f"/api/sessions/{quoted}", headers=headers),
        Client().post("/api/sessions", json.dumps({"key": name}), "application/json", headers=headers),
        Client().post(f"/api/import?name={quoted}", b"x", "application/json", headers=headers),
        Client().get("/", headers={"Host": f"{name.encode('ascii', 'ignore').decode()}.example"}),
    ]
    assert [each.status_code for each in refused if each.status_code < 400] == []
    text = json.dumps(lines(), ensure_ascii=False)
    assert len(lines()) > 2 * len(refused) - 2
    assert "Not Found: /api/sessions/<session_id>" in text
    assert not re.search("ndigung|ller|%C3", text), text


def test_each_request_is_logged_on_request(project: Project, lines: Lines, settings: Settings) -> None:
    Client().get("/sign-in/")
    assert lines() == []
    settings.LOG_REQUESTS = True
    Client().get(f"/sign-in/{SECRET}/")
    (line,) = lines()
    assert (line["method"], line["route"], line["status"]) == ("GET", "/sign-in/<str:secret>/", 200)
    assert line["milliseconds"] >= 0
    assert SECRET not in json.dumps(line)


def test_a_message_of_several_lines_is_one_line_of_the_log() -> None:
    out = io.StringIO()
    hostile = "a\r\n2026-01-01 WARNING forged\x1b[2K\u2028b"
    written_to(out).handle(logging.makeLogRecord({"msg": "refused: %s", "args": (hostile,)}))
    (line,) = out.getvalue().splitlines()
    assert r"refused: a\r\n2026-01-01 WARNING forged\x1b[2K\u2028b" in line


def test_lines_of_text_end_with_the_request_id() -> None:
    root, out = logging.getLogger("x"), io.StringIO()
    handler = written_to(out)
    root.addHandler(handler)
    with working_on("run_import", "abc-1"):
        root.warning("It is %s", "late")
    root.warning("It is early")
    root.removeHandler(handler)
    first, second = out.getvalue().splitlines()
    assert first.endswith("WARNING x It is late [request abc-1]")
    assert second.endswith("WARNING x It is early")


def test_another_log_format_is_refused_at_start() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "timemachine.management", "check"],
        env=os.environ | {"LOG_FORMAT": "xml"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "LOG_FORMAT is 'xml'. Set it to line or json.\n")
