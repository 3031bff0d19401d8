"""`make audit` asks a server with the API of OSV about the packages in uv.lock."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[2]
VULNERABILITY = {"id": "GHSA-test", "modified": "2026-01-01T00:00:00Z", "summary": "Bad", "affected": []}


@contextmanager
def osv(vulnerable: str | None) -> Iterator[str]:
    """Serve the API of OSV, which knows of one vulnerable package."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            named = [
                {"vulns": [VULNERABILITY]} if each["package"]["name"] == vulnerable else {}
                for each in queries
            ]
            self._answer({"results": named})

        def do_GET(self) -> None:
            self._answer(VULNERABILITY)

        def _answer(self, document: dict[str, Any]) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in the standard library
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def audited(url: str) -> subprocess.CompletedProcess[str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = ours | {"AUDIT_URL": url, "UV_HTTP_RETRIES": "0", "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        ["make", "audit"], cwd=TOP, env=environment, capture_output=True, text=True, check=False
    )


def test_packages_without_known_vulnerabilities_pass() -> None:
    with osv(None) as url:
        ran = audited(url)
    assert ran.returncode == 0
    assert ran.stdout.startswith("Found no known vulnerabilities")


def test_a_vulnerable_package_fails_and_is_named() -> None:
    with osv("celery") as url:
        ran = audited(url)
    assert ran.returncode != 0
    assert "has 1 known vulnerability" in ran.stdout
    assert "GHSA-test: Bad" in ran.stdout


def test_an_unreachable_server_is_reported_in_one_line() -> None:
    ran = audited("http://127.0.0.1:1/")
    assert ran.returncode != 0
    assert ran.stdout.startswith(
        "The packages were not checked: error sending request for url (http://127.0.0.1:1/"
    )
    assert len(ran.stdout.splitlines()) == 1
