"""An OpenID Connect provider on loopback whose answers a test can spoil."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from timemachine.core.pure.clock import now

CLIENT = "time-machine"


def new_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


class HostileProvider:
    """Answers with a token of `claims`, signed by `key`, which `jwks` announces; `change` replaces the answer of a path."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.key = self.announced = new_key()
        self.key_id = "1"
        self.nonce = ""
        self.claims: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.requests: list[tuple[str, str]] = []
        self.change: dict[str, Callable[[], tuple[int, Any]]] = {}

    def answer(self, path: str) -> tuple[int, Any]:
        if path in self.change:
            return self.change[path]()
        return 200, getattr(self, {"/jwks": "_keys", "/token": "_token"}.get(path, "_metadata"))()

    def _metadata(self) -> Mapping[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/jwks",
        }

    def _keys(self) -> Mapping[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.announced.public_key(), as_dict=True)
        return {"keys": [public | {"kid": self.key_id, "use": "sig", "alg": "RS256"}]}

    def _token(self) -> Mapping[str, Any]:
        moment = int(now().timestamp())
        claims = {
            "iss": self.address,
            "sub": "zoe",
            "aud": CLIENT,
            "exp": moment + 300,
            "iat": moment,
            "nonce": self.nonce,
            "email": "zoe@example.org",
            "email_verified": True,
            "groups": ["risk"],
        } | self.claims
        key: Any = None if self.algorithm == "none" else self.key
        if self.algorithm == "HS256":
            key = "x" * 64
        token = jwt.encode(claims, key, algorithm=self.algorithm, headers={"kid": self.key_id})
        return {"id_token": token, "access_token": "x", "token_type": "Bearer"}


@contextmanager
def hostile_provider() -> Iterator[HostileProvider]:
    """Run one until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            provider.requests.append((self.path, self.rfile.read(length).decode()))
            status, document = provider.answer(self.path)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = HostileProvider(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
