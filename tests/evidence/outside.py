"""A witness and a timestamp authority on loopback that validate requests like real ones."""

import base64
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from timemachine.evidence.pure.tree import node_hash

Posted = Callable[[bytes, str], tuple[int, bytes]]


@contextmanager
def served(answers: Posted) -> Iterator[str]:
    """Return the address of a server that answers each POST request, given its body and content type, with a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = answers(body, self.headers["Content-Type"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/add"
        finally:
            server.shutdown()
            thread.join()


class Witness:
    """A witness as in C2SP's `tlog-witness`: cosigns states that continue the last one, and knows logs by their verifier keys."""

    def __init__(self, verifier_key: str) -> None:
        self.origin, self.hash, public = verifier_key.split("+", 2)
        self.key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public)[1:])
        self.size, self.root = 0, b""
        self.taken: list[int] = []

    def __call__(self, body: bytes, _type: str) -> tuple[int, bytes]:
        """Return its answer."""
        first, note = body.decode().split("\n\n", 1)
        old, *proof = first.split("\n")
        text, signatures = note.split("\n\n")
        origin, size, root = (text + "\n").split("\n")[:3]
        name, signature = signatures.strip().removeprefix("— ").split(" ")
        raw = base64.b64decode(signature)
        if (origin, name, raw[:4].hex()) != (self.origin, self.origin, self.hash):
            return 404, b"unknown log"
        self.key.verify(raw[4:], f"{text}\n".encode())
        if int(old.removeprefix("old ")) != self.size:
            return 409, f"{self.size}\n".encode()
        hashes = [base64.b64decode(each) for each in proof]
        grown = base64.b64decode(root)
        if self.size and not consistent(self.size, int(size), self.root, grown, hashes):
            return 422, b"no proof"
        self.size, self.root = int(size), grown
        self.taken.append(self.size)
        return 200, "— witness.example/w1 AAAA\n".encode()


_CONFIGURATION: Final = """
[ tsa ]
default_tsa = own
[ own ]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
default_policy = 1.2.3.4
digests = sha256, sha512
signer_digest = sha256
accuracy = secs:1
{certs}
[ extensions ]
extendedKeyUsage = critical,timeStamping
[ ca ]
basicConstraints = critical,CA:true
[ req ]
distinguished_name = name
[ name ]
"""


class Authority:
    """A timestamp authority based on the openssl command. `certificate` is its own, or that of the issuing authority, which it sends too."""

    def __init__(self, folder: Path, *, certified: bool = False) -> None:
        self.folder, self.certificate = folder, folder / ("ca.pem" if certified else "tsa.pem")
        (folder / "serial").write_text("01\n")
        certs = f"certs = {folder}/ca.pem" if certified else ""
        (folder / "tsa.cnf").write_text(_CONFIGURATION.format(folder=folder, certs=certs))
        if certified:
            self._certified()
            return
        self._openssl(
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=TSA -config tsa.cnf -extensions extensions "
            "-keyout tsa.key -out tsa.pem"
        )

    def _certified(self) -> None:
        """Return a certificate that is longer than the other one and sent before it; DER requires the reverse order."""
        self._openssl(
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=CA -config tsa.cnf -extensions ca -keyout ca.key -out ca.pem"
        )
        self._openssl(
            "req -newkey rsa:2048 -nodes -subj /CN=an-authority-of-a-longer-name -config tsa.cnf -keyout tsa.key -out tsa.csr"
        )
        self._openssl(
            "x509 -req -days 30 -in tsa.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile tsa.cnf -extensions extensions -out tsa.pem"
        )

    def __call__(self, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Return its answer."""
        if content_type != "application/timestamp-query":
            return 400, b"no query"
        (self.folder / "query.tsq").write_bytes(body)
        self._openssl("ts -reply -config tsa.cnf -queryfile query.tsq -out answer.tsr")
        return 200, (self.folder / "answer.tsr").read_bytes()

    def _openssl(self, arguments: str) -> None:
        subprocess.run(["openssl", *arguments.split()], cwd=self.folder, capture_output=True, check=True)


def included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Return whether the proof shows the leaf hash at that index of the tree of that size and root."""
    if not 0 <= index < size:
        return False
    rest = list(proof)
    try:
        found = _upwards(leaf, index, size, rest)
    except IndexError:
        return False
    return not rest and found == root


def consistent(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return whether the proof shows the tree of `old` leaves to be a prefix of the tree of `new`."""
    if not 0 < old <= new:
        return False
    rest = list(proof)
    try:
        found = _both(old, new, rest, old_root)
    except IndexError:
        return False
    return not rest and found == (old_root, new_root)


def _upwards(leaf: bytes, index: int, width: int, rest: list[bytes]) -> bytes:
    """Return the root of a subtree from a leaf in it. Used hashes are removed from the end of the proof."""
    if width == 1:
        return leaf
    sibling, split = rest.pop(), _split(width)
    if index < split:
        return node_hash(_upwards(leaf, index, split, rest), sibling)
    return node_hash(sibling, _upwards(leaf, index - split, width - split, rest))


def _both(old: int, width: int, rest: list[bytes], known: bytes | None) -> tuple[bytes, bytes]:
    """Return the old root (of the first `old` leaves) and the new root of a subtree. `known` is the old root
    if it is the complete old tree.
    """
    if old == width:
        found = rest.pop() if known is None else known
        return found, found
    sibling, split = rest.pop(), _split(width)
    if old <= split:
        before, after = _both(old, split, rest, known)
        return before, node_hash(after, sibling)
    before, after = _both(old - split, width - split, rest, None)
    return node_hash(sibling, before), node_hash(sibling, after)


def _split(width: int) -> int:
    """Return the largest power of two below the width."""
    return 1 << (width - 1).bit_length() - 1
