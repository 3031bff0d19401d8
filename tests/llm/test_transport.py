"""The HTTP client for model servers, pinned to public addresses."""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from timemachine.core.pure.errors import ModelFailed
from timemachine.llm import transport
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.llm.transport import PinnedTransport, attempting, http_client

NAME = "models.example.com"


class Page(BaseHTTPRequestHandler):
    """Answers with the requested host; at `/zip` with a compression header, at `/slow` after a minute."""

    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(60)
        body = self.headers["host"].encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        if self.path == "/zip":
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
        pass


@pytest.fixture
def plain() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        yield from _serving(server)


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return a server on the loopback with a certificate for NAME that this process trusts."""
    certificate = _certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        server.daemon_threads = True
        server.block_on_close = False
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield from _serving(server)


def _serving(server: HTTPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return file


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Resolve every name to these addresses, and collect the names that are looked up."""
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def answer(host: str, port: int, *rest: Any, **options: Any) -> Any:
        if host in addresses:
            return real(host, port, *rest, **options)
        looked_up.append(host)
        return [found for address in addresses for found in real(address, port, *rest, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return looked_up


def treat_as_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the loopback as public where the address check is not the subject, because a test can serve no other address."""
    monkeypatch.setattr(transport, "is_public", lambda address: ipaddress.ip_address(address).is_loopback)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1", "MODEL_HOSTS_ALLOWED"),
        ("::1", "MODEL_HOSTS_ALLOWED"),
        ("10.0.0.1", "MODEL_HOSTS_ALLOWED"),
        ("::ffff:127.0.0.1", "MODEL_HOSTS_ALLOWED"),
        ("169.254.169.254", "never called"),
    ],
)
def test_a_pinned_client_refuses_a_name_that_resolves_to_an_internal_address(
    monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, 0, 0, "", (address, 443))])
    with pytest.raises(ModelFailed, match=words) as refused:
        http_client(pinned=True).get(f"https://{NAME}/v1")
    assert refused.value.code == "address_not_allowed"


def test_a_pinned_client_resolves_the_name_once_and_keeps_the_result(
    monkeypatch: pytest.MonkeyPatch, plain: int
) -> None:
    treat_as_public(monkeypatch)
    looked_up = resolve_to(monkeypatch, "127.0.0.1")
    answer = httpx2.Client(transport=PinnedTransport()).get(f"http://{NAME}:{plain}/")
    assert answer.text == f"{NAME}:{plain}"
    assert looked_up == [NAME]


def test_a_pinned_client_checks_the_certificate_for_the_name(
    monkeypatch: pytest.MonkeyPatch, secure: int
) -> None:
    treat_as_public(monkeypatch)
    resolve_to(monkeypatch, "127.0.0.1")
    with httpx2.Client(transport=PinnedTransport()) as client:
        assert client.get(f"https://{NAME}:{secure}/").text == f"{NAME}:{secure}"
        with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
            client.get(f"https://other.example.com:{secure}/")


def test_a_pinned_client_tries_the_next_address_if_one_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, plain: int
) -> None:
    treat_as_public(monkeypatch)
    resolve_to(monkeypatch, "127.0.0.9", "127.0.0.1")
    answer = httpx2.Client(transport=PinnedTransport()).get(f"http://{NAME}:{plain}/")
    assert answer.status_code == 200


def test_a_pinned_client_cannot_reach_a_name_that_does_not_resolve() -> None:
    with pytest.raises(httpx2.ConnectError, match="was not found"):
        http_client(pinned=True).get("https://no-such-host.invalid/")


def test_an_unrequested_compressed_answer_is_refused(plain: int) -> None:
    with pytest.raises(ModelFailed, match="compresses"):
        http_client(pinned=False).get(f"http://127.0.0.1:{plain}/zip")


def test_an_encrypted_connection_can_be_shut_while_its_server_is_silent(
    monkeypatch: pytest.MonkeyPatch, secure: int
) -> None:
    treat_as_public(monkeypatch)
    resolve_to(monkeypatch, "127.0.0.1")
    cancellation = Cancellation()
    threading.Timer(0.3, cancellation.cancel).start()
    started = time.monotonic()
    client = httpx2.Client(transport=PinnedTransport(), event_hooks={"request": [transport._watch]})
    with attempting(60, cancellation), pytest.raises(httpx2.TransportError):
        client.get(f"https://{NAME}:{secure}/slow")
    assert time.monotonic() - started < 40


def test_a_process_has_one_client_of_each_kind() -> None:
    assert http_client(pinned=True) is http_client(pinned=True)
    assert http_client(pinned=True) is not http_client(pinned=False)
    assert not http_client(pinned=True).follow_redirects
    assert not http_client(pinned=False).follow_redirects
