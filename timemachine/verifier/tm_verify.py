#!/usr/bin/env python3
"""Check an evidence bundle of Time Machine. One file, Python 3.10 or newer, no network, nothing to install.

    python3 tm_verify.py BUNDLE.zip [--key ed25519:FINGERPRINT] [--older OLDER.zip] [--json]

Exit code 0: all that is in the bundle fits together and is signed (by the given key, where one is given). 1: something does not;
each fault is named with its record. 2: this is no bundle, or the command is wrong. With `--older`, a bundle of the same log or session
that was kept from before, also whether what was sealed then is the beginning of what is sealed now, and where it is not.

Take this file and the key's fingerprint from somewhere else than the bundle: a bundle that brings its own verifier and its own key
proves nothing. What is checked: every file against the signed statement; every signature; every record's form, place and hash chain;
the tree over the records (RFC 6962) against the signed checkpoints; every disclosed field against its salted commitment; every
replayed step's link to the record that it repeats; the checkpoint's entry in the project's log. Of a whole log: every root that was ever
signed, and that nothing which was sealed is gone without a tombstone.

A bundle that is large is read by two processes of this program at once, on a machine that lets it start another.
"""

from __future__ import annotations

import argparse
import base64
import gc
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

FORMAT = "timemachine-evidence-1"
STATEMENT, KEYS, PAYLOADS = "statement.json", "keys.json", "payloads.jsonl"
STATEMENT_TYPE = "application/vnd.in-toto+json"
CHECKPOINT_TYPE = "application/vnd.timemachine.checkpoint.v1"
MOST_PROBLEMS = 100
LARGEST_SMALL_FILE = 64 * 1024 * 1024
CHUNK = 1 << 20
NO_RECORD = "0" * 64
COMMITMENT_TAG = b"tm-commit-v1\x00"
_bytes = bytes.fromhex
WORTH_A_PROCESS = 8 * 1024 * 1024  # bytes to read; starting another process takes as long as reading some
# An envelope is canonical JSON (RFC 8785), so there is one way to write it: what is written otherwise is not read at all.
PAIRS = rb'((?:"[a-z0-9._]+":"[0-9a-f]{64}"(?:,(?=")|(?=\})))*)'
ENVELOPE = re.compile(
    rb'\{"at":"([0-9A-Z:.+-]*)","fields":\{'
    + PAIRS
    + rb'\},"id":"([0-9a-f-]{36})","index":(0|[1-9][0-9]{0,14}),'
    rb'"kind":"([a-z_]+)",(?:"links":\{' + PAIRS + rb'\},)?"of":"([a-z]+)","prev":"([0-9a-f]{64})","v":1\}'
)
PAIR = re.compile(rb'"([a-z0-9._]+)":"([0-9a-f]{64})"')
SHA256 = re.compile(r"[0-9a-f]{64}")
NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
MOST = 10**15  # more records, lines or entries than there ever are
FOLDER = re.compile(r"[a-z]+(-[0-9]{1,9})?")
KIND = re.compile(r"[a-z]+")
ID = re.compile(r"[0-9a-f-]{36}")
NOT_PROVEN = (
    "That the agent did what was recorded: hashes prove that nothing changed since it was sealed, not that what was sent was true.",
    "That this is the only history: who holds the signing key could seal another one. Compare one of its checkpoints that you kept.",
    "That a time is right: it is the server's clock, unless an independent timestamp is named above.",
    "That a replay shows why the model answered as it did: providers change their models, and the same answer is no proof of a cause.",
)
SAID_OF_OLDER = {
    True: "THE OLDER ONE IS ITS BEGINNING",
    False: "THE OLDER ONE IS NOT ITS BEGINNING",
    None: "THE OLDER ONE WAS COMPARED IN PART",
}
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What reading a file of a zip raises where its bytes were changed.
DAMAGE = (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)
WRONG_FORM = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


class Unreadable(Exception):
    """The file cannot be checked at all."""


class Tree(NamedTuple):
    """What the statement says of a tree; `complete` where every record of it is in the bundle, `withholds` where some fields may be untold."""

    path: str
    of: str
    id: str
    origin: str
    size: int
    root: str
    complete: bool
    withholds: bool = True


class Log(NamedTuple):
    """What the statement of a project's log says of it."""

    path: str
    origin: str
    size: int
    root: str


class Stated(NamedTuple):
    """What the statement names: trees of records, or a project's log, and every file by its SHA-256."""

    trees: list[Tree]
    log: Log | None
    files: dict[str, str]


Name = tuple[str, str, int]
"""What was sealed: of what, its id, and which of its runs."""


class Sealed(NamedTuple):
    """A record's leaf hash, and its commitments and links as they are written in its envelope."""

    leaf: bytes
    fields: bytes
    links: bytes


class Begin(NamedTuple):
    """What a bundle of before is of, whose key signed it, and whether it is the beginning of this one; None where not all can be compared."""

    subject: str | None
    key: str | None
    holds: bool | None


class Leaves(NamedTuple):
    """The leaf hashes of a tree by index, how many of them are signed under which root, and what one is called."""

    found: Mapping[int, bytes]
    size: int
    root: str
    complete: bool
    name: str


class Found(NamedTuple):
    """What was read of a bundle: the report on it, and its trees by their origin."""

    report: Report
    trees: dict[str, Leaves]


class State(NamedTuple):
    """A signed checkpoint: where it stands, whose it is, how many records it counts, their root, and the leaf of the last."""

    where: str
    origin: str
    size: int
    root: bytes
    last: str


class Report:
    """What was checked and what was found."""

    def __init__(self) -> None:
        self.problems: list[dict[str, str]] = []
        self.more = 0
        names = (
            "files",
            "signatures",
            "records",
            "fields",
            "withheld",
            "links",
            "proofs",
            "sealed",
            "erased",
            "compared",
            "erased_fields",
            "witnessed",
            "access_lines",
        )
        self.checked = dict.fromkeys(names, 0)
        self.not_checked: list[str] = []
        self.subject: str | None = None
        self.key: str | None = None
        self.older: Begin | None = None

    def problem(self, code: str, where: str, says: str) -> None:
        """Keep a fault; beyond the first hundred they are only counted."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append({"code": code, "where": where, "says": says})
        else:
            self.more += 1

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "format": FORMAT,
            "result": "failed" if self.problems else "verified",
            "subject": self.subject,
            "key": self.key,
            "older": self.older._asdict() if self.older else None,
            "checked": self.checked,
            "problems": self.problems,
            "more_problems": self.more,
            "not_checked": self.not_checked,
            "not_proven": list(NOT_PROVEN),
        }


# --- hashes, the tree of RFC 6962, and Ed25519 (RFC 8032) ---


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def roots(leaves: Sequence[bytes], sizes: Iterable[int]) -> dict[int, bytes]:
    """The root of the tree of the first so many leaves, for each size that is asked for and that there is."""
    levels, joined = (
        [leaves],
        hashlib.sha256,
    )  # the roots of all full trees of 1, 2, 4 … leaves that stand side by side
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append(
            [joined(b"\x01" + a + b).digest() for a, b in zip(below[::2], below[1::2], strict=False)]
        )
    return {size: _root(levels, size) for size in sizes if 0 <= size <= len(leaves)}


def _root(levels: Sequence[Sequence[bytes]], size: int) -> bytes:
    peaks, begin = list[bytes](), 0
    for height in reversed(range(len(levels))):
        if size >> height & 1:
            peaks.append(levels[height][begin >> height])
            begin += 1 << height
    root = peaks.pop() if peaks else sha256(b"")
    for peak in reversed(peaks):
        root = node_hash(peak, root)
    return root


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which an audit path leads from a leaf; None where the path does not fit."""
    if not 0 <= index < size:
        return None
    begin, end, turns = 0, size, list[bool]()
    while end - begin > 1:
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        turns.append(index >= middle)
        begin, end = (middle, end) if index >= middle else (begin, middle)
    if len(turns) != len(path):
        return None
    found = leaf
    for right, beside in zip(reversed(turns), path, strict=True):
        found = node_hash(beside, found) if right else node_hash(found, beside)
    return found


Point = tuple[int, int, int, int]
P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
KEY_BYTES, SIGNATURE_BYTES = 32, 64


def _added(a: Point, b: Point) -> Point:
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    z = 2 * a[3] * b[3] * D % P
    t = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, t - z, t + z, y + x
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _times(number: int, point: Point) -> Point:
    found = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = _added(found, point)
        point = _added(point, point)
        number >>= 1
    return found


def _same(a: Point, b: Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def _point(data: bytes) -> Point | None:
    """The point that 32 bytes name; None where they name none."""
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & ((1 << 255) - 1)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * SQRT_OF_MINUS_1 % P
    if y >= P or (x * x - square) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P


def is_signature(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether this is the key's Ed25519 signature of the message."""
    if len(public_key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    base, key, first = _point(BASE_Y.to_bytes(32, "little")), _point(public_key), _point(signature[:32])
    number = int.from_bytes(signature[32:], "little")
    if base is None or key is None or first is None or number >= Q:
        return False
    challenge = hashlib.sha512(signature[:32] + public_key + message).digest()
    turned = int.from_bytes(challenge, "little") % Q
    return _same(_times(number, base), _added(first, _times(turned, key)))


def fingerprint(public_key: bytes) -> str:
    """`ed25519:` and the SHA-256 of the key as SubjectPublicKeyInfo (RFC 8410), as `openssl pkey -pubin -outform DER` writes it."""
    return "ed25519:" + hashlib.sha256(bytes.fromhex("302a300506032b6570032100") + public_key).hexdigest()


def is_fingerprint(text: str) -> bool:
    """Whether this is how a fingerprint is written."""
    return re.fullmatch(r"ed25519:[0-9a-f]{64}", text) is not None


# --- reading ---


def parsed(data: bytes | str) -> Any:
    """A JSON document that can be read in one way only. Raises `ValueError`, `RecursionError`."""
    written = data if isinstance(data, str) else data.decode("utf-8")
    return json.loads(written, object_pairs_hook=_once)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands in it twice")
    return found


def whole(value: Any) -> int:
    """A number of records or a place among them; a bool, a fraction or a text is none. Raises `ValueError`."""
    if type(value) is not int or not 0 <= value < MOST:
        raise ValueError("this is no whole number from 0 on")
    return value


def digits(written: str) -> int:
    """A whole number from its digits, which can be written in one way only. Raises `ValueError`."""
    if not NUMBER.fullmatch(written):
        raise ValueError("this is no whole number from 0 on")
    return int(written)


def text(value: Any, form: re.Pattern[str] | None = None) -> str:
    """A text, in this form where one is given. Raises `ValueError`."""
    if type(value) is not str or (form and not form.fullmatch(value)):
        raise ValueError("this is no text, or one of another form")
    return value


def hashes(value: Any) -> list[bytes]:
    """SHA-256 hashes from a list of their digits. Raises `ValueError`."""
    if type(value) is not list:
        raise ValueError("this is no list")
    return [bytes.fromhex(text(each, SHA256)) for each in value]


class Bundle:
    """The files of a bundle, each hashed as it is read to its end."""

    def __init__(self, path: str, report: Report) -> None:
        self.report, self.path = report, path
        self.hashes: dict[str, str] = {}
        try:
            self.zip = zipfile.ZipFile(path)
            members = self.zip.infolist()
        except DAMAGE as why:
            raise Unreadable(f"this is not a zip file that can be read: {why}") from why
        self.names = {each.filename for each in members}
        if len(members) != len(self.names):
            raise Unreadable("two files in it have one name")
        if any(each.compress_type not in PACKED for each in members):
            raise Unreadable(
                "a file in it is packed in another way than by deflate, which the product never does"
            )

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file without their ends; a file that is not there has none. Damage is told once, as a fault."""
        if name not in self.names:
            return
        digest, rest = hashlib.sha256(), b""
        try:
            with self.zip.open(name) as opened:
                while chunk := opened.read(CHUNK):
                    digest.update(chunk)
                    *ended, rest = (rest + chunk).split(b"\n")
                    yield from ended
        except DAMAGE as why:
            self.report.problem("file", name, f"It is damaged and cannot be read to its end: {why}.")
            self.names.discard(name)
            self.hashes[name] = ""
            return
        if rest:
            yield rest
        self.hashes[name] = digest.hexdigest()

    def hash(self, name: str) -> str | None:
        """The SHA-256 of a file, in hex; nothing for one that is damaged."""
        if name not in self.hashes:
            for _ in self.lines(name):
                pass
        return self.hashes.get(name)

    def document(self, name: str) -> Any:
        """A JSON document; None where there is none or it is no JSON."""
        if name not in self.names or self.zip.getinfo(name).file_size > LARGEST_SMALL_FILE:
            return None
        try:
            return parsed(b"\n".join(self.lines(name)))
        except WRONG_FORM:
            return None


def public_keys(found: Any) -> dict[str, bytes]:
    """The public keys that the bundle brings, by their true fingerprints."""
    known = {}
    for each in found if isinstance(found, list) else ():
        try:
            public = base64.b64decode(each["public_key"], validate=True)
        except WRONG_FORM:
            continue
        if len(public) == KEY_BYTES:
            known[fingerprint(public)] = public
    return known


def opened(
    signed: Any, wanted_type: str, keys: Mapping[str, bytes], report: Report, where: str
) -> tuple[bytes, str] | None:
    """The bytes under a DSSE envelope's signature, and its key; None, with a fault told, where it is not valid."""
    try:
        payload = base64.b64decode(signed["payload"], validate=True)
        kind = text(signed["payloadType"])
        (signature,) = signed["signatures"]
        key, raw = text(signature["keyid"]), base64.b64decode(signature["sig"], validate=True)
        encoded = b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(payload), payload)
    except WRONG_FORM:
        report.problem("signature", where, "There is no signed document here.")
        return None
    if kind != wanted_type:
        report.problem(
            "signature", where, f"Something of the type {kind!r} is signed here, not {wanted_type!r}."
        )
    elif key not in keys:
        report.problem("signature", where, f"It is signed by the key {key}, which is not in the bundle.")
    elif not is_signature(keys[key], encoded, raw):
        report.problem("signature", where, "The signature is not valid: it, or what it signs, was changed.")
    else:
        report.checked["signatures"] += 1
        return payload, key
    return None


def parsed_state(data: bytes, where: str) -> State | None:
    """A checkpoint from its text; None where it has another form."""
    try:
        lines = data.decode("ascii").split("\n")
        facts = dict(line.split(" ", 1) for line in lines[3:] if line)
        root = base64.b64decode(lines[2], validate=True)
        return State(where=where, origin=lines[0], size=digits(lines[1]), root=root, last=facts["last"])
    except WRONG_FORM:
        return None


# --- checking ---


def verify(path: str, wanted_key: str | None = None, older: str | None = None) -> Report:
    """The report on a bundle, and on whether an older one of the same is its beginning. Raises `Unreadable`."""
    found = _verified(path, wanted_key)
    if older is not None:
        try:
            before = _verified(older, None)
        except Unreadable as why:
            raise Unreadable(f"the older one, {older}, cannot be compared: {why}") from why
        _compare(before, found)
    return found.report


def _verified(path: str, wanted_key: str | None) -> Found:
    found, helpers = Found(Report(), {}), list[Helper | None]()
    try:
        _read(path, wanted_key, found, helpers)
    except Unreadable:
        raise
    # Whatever was done to a file: what ends the check is a fault, and never a traceback.
    except Exception as why:  # noqa: BLE001
        says = f"Something in it has a form that ends the check ({type(why).__name__}); what follows was not read."
        found.report.problem("malformed", path, says)
    finally:
        for helper in helpers:
            if helper:
                helper.end()
    return found


def _read(path: str, wanted_key: str | None, found: Found, helpers: list[Helper | None]) -> None:
    report, trees = found
    bundle = Bundle(path, report)
    keys = public_keys(bundle.document(KEYS))
    stated = _statement(bundle, keys, report, wanted_key)
    helpers += [_helped(bundle, tree) for tree in stated.trees]
    payloads = _payloads(bundle, report)
    records: dict[str, dict[int, Sealed]] = {}
    if stated.log:
        entries = dict(enumerate(_whole_log(bundle, stated.log, keys, report)))
        trees[stated.log.origin] = Leaves(
            entries, stated.log.size, stated.log.root, complete=True, name="log entry"
        )
    for tree, helper in zip(stated.trees, helpers, strict=True):
        records[tree.path] = _records(bundle, tree, report)
        _states(bundle, tree, records[tree.path], keys, report)
        _disclosed(bundle, tree.path, records[tree.path], payloads, helper, report)
        _untold(bundle, tree, records[tree.path], _tombstones(bundle, tree, keys, report), report)
        leaves = {index: each.leaf for index, each in records[tree.path].items()}
        trees[tree.origin] = Leaves(leaves, tree.size, tree.root, tree.complete, f"{tree.path} record")
    _timestamps(bundle, _log_states(bundle, stated), report)
    _links(records, report)
    _files(bundle, stated.files, report)


def _compare(older: Found, newer: Found) -> None:
    """Whether every tree that is in both bundles begins, in the newer one, as it was in the older one."""
    report, same = newer.report, [origin for origin in newer.trees if origin in older.trees]
    if not same:
        raise Unreadable(
            f"it is of {report.subject}, and the older one of {older.report.subject}: compare two of the same"
        )
    for each in older.report.problems:
        report.problem(each["code"], f"older bundle: {each['where']}", each["says"])
    if older.report.key not in {None, report.key}:
        says = f"Whose key signed the older bundle: compare {older.report.key} with the fingerprint that you had then."
        report.not_checked.append(says)
    held = [_begins(older.trees[origin], newer.trees[origin], report) for origin in same]
    holds = False if False in held or older.report.problems else None if None in held else True
    report.older = Begin(older.report.subject, older.report.key, holds)


def _begins(older: Leaves, newer: Leaves, report: Report) -> bool | None:
    """Whether a tree is the beginning of another one (RFC 6962); None where too little is shown to say so of all of it."""
    both = [index for index in sorted(older.found) if index in newer.found]
    for index in both:
        if older.found[index] != newer.found[index]:
            report.problem(
                "rewritten", f"{newer.name} {index}", "It is another one than in the older bundle."
            )
            return False
    if newer.complete and older.size > newer.size:
        says = f"It is missing: the older bundle goes on to {older.size}. They were taken out, or the two files are the other way round."
        report.problem("rewritten", f"{newer.name} {newer.size}", says)
        return False
    report.checked["compared"] += len(both)
    most, other = (newer, older) if newer.complete else (older, newer)
    begin = range(other.size if other.size <= len(most.found) else 0)  # what is stated may be any number
    made = roots([most.found.get(index, b"") for index in begin], [other.size])
    same = other.size in made and made[other.size].hex() == other.root
    same = same or (older.size, older.root) == (newer.size, newer.root)
    if most.complete and other.size <= most.size and not same:
        says = f"One of the {other.size} before it is another one than when they were signed."
        report.problem("rewritten", f"{newer.name} {other.size}", says)
        return False
    if not same or older.size > newer.size:
        says = f"Each {newer.name} that is not in both bundles: {len(both)} of {older.size} were compared."
        report.not_checked.append(says)
    return True if same and older.size <= newer.size else None


def _statement(bundle: Bundle, keys: Mapping[str, bytes], report: Report, wanted_key: str | None) -> Stated:
    """What the statement says is in the bundle."""
    signed = bundle.document(STATEMENT)
    if signed is None:
        raise Unreadable(f"there is no readable {STATEMENT} in it, so this is not an evidence bundle")
    found = opened(signed, STATEMENT_TYPE, keys, report, STATEMENT)
    report.key = found[1] if found else None
    if found and wanted_key is None:
        says = f"Whose key signed it: compare {found[1]} with the fingerprint that you got another way, or give it with --key."
        report.not_checked.append(says)
    elif found and found[1] != wanted_key:
        report.problem("key", STATEMENT, f"It is signed by the key {found[1]}, and not by {wanted_key}.")
    try:
        stated = parsed(found[0] if found else base64.b64decode(signed["payload"]))
        subject, predicate = stated["subject"][0], stated["predicate"]
        trees = [_tree_of(each) for each in predicate["trees"]]
        log = _log_of(predicate["log"]) if "log" in predicate else None
        first = log or trees[0]
        form, root = predicate["format"], subject["digest"]["sha256"]
        files = {name: text(digest, SHA256) for name, digest in predicate["files"].items()}
        if len({tree.path for tree in trees} | ({log.path} if log else set())) != len(trees) + bool(log):
            raise ValueError("two trees stand in one folder")
        report.subject = text(subject["name"])
        wrong = root != first.root or report.subject != first.origin
    except WRONG_FORM as why:
        raise Unreadable("its statement has not the form that this program knows") from why
    if form != FORMAT:
        raise Unreadable(f"its format is {form!r}, and this program knows {FORMAT!r}")
    if wrong:
        report.problem("statement", STATEMENT, "Its subject is not the first of its trees.")
    return Stated(trees, log, files)


def _tree_of(said: Mapping[str, Any]) -> Tree:
    """A tree as the statement names it; one of an older server does not say whether it withholds."""
    complete, withholds = said["complete"], said.get("withholds", True)
    if type(complete) is not bool or type(withholds) is not bool:
        raise ValueError("this is neither true nor false")
    return Tree(
        path=text(said["path"], FOLDER),
        of=text(said["of"], KIND),
        id=text(said["id"], ID),
        origin=text(said["origin"]),
        size=whole(said["size"]),
        root=text(said["root"], SHA256),
        complete=complete,
        withholds=withholds,
    )


def _log_of(said: Mapping[str, Any]) -> Log:
    """A project's log as the statement names it."""
    return Log(
        path=text(said["path"], FOLDER),
        origin=text(said["origin"]),
        size=whole(said["size"]),
        root=text(said["root"], SHA256),
    )


def _files(bundle: Bundle, stated: Mapping[str, str], report: Report) -> None:
    """Every file is the one that was signed, and there is no other."""
    here = set(bundle.zip.namelist()) - {STATEMENT}
    for name in sorted(here | set(stated)):
        if name not in here:
            report.problem("file", name, "The statement names this file, and it is not in the bundle.")
        elif name not in stated:
            report.problem("file", name, "The statement does not name this file: somebody added it.")
        elif (found := bundle.hash(name)) != stated[name]:
            if found:
                report.problem("file", name, "The file is not the one that was signed: it was changed.")
        else:
            report.checked["files"] += 1


def _payloads(bundle: Bundle, report: Report) -> dict[str, bytes]:
    """What the bytes of every payload hash to, by what they are said to hash to."""
    known = {}
    for number, line in enumerate(bundle.lines(PAYLOADS), start=1):
        try:
            found = parsed(line)
            data = base64.b64decode(found["base64"]) if "base64" in found else found["text"].encode()
            claimed, digest = text(found["sha256"], SHA256), sha256(data)
        except WRONG_FORM:
            report.problem("payload", f"{PAYLOADS} line {number}", "This line is no payload.")
            continue
        known[claimed] = digest
        if digest.hex() != claimed:
            report.problem(
                "payload", f"payload {claimed}", f"Its bytes were changed: they hash to {digest.hex()}."
            )
    return known


def _records(bundle: Bundle, tree: Tree, report: Report) -> dict[int, Sealed]:
    """The records of a tree by index: each has the form of an envelope, is of this tree, and names the one before it."""
    found, sha = dict[int, Sealed](), hashlib.sha256
    whose, orders = (tree.id.encode(), tree.of.encode()), set[tuple[bytes, ...]]()
    before, previous = -1, NO_RECORD.encode()
    for number, line in enumerate(bundle.lines(f"{tree.path}/records.jsonl"), start=1):
        match = ENVELOPE.fullmatch(line)
        if match is None or not _in_order(match[2], orders):
            says = f"Line {number} of its records has not the form of a sealed record: it was changed."
            report.problem("record", f"{tree.path} record {before + 1}", says)
            before, previous = before + 1, b""
            continue
        _, fields, id_, written_index, _, links, of, prev = match.groups()
        index, leaf = int(written_index), sha(b"\x00" + line)
        if (id_, of) != whose:
            says = f"It is a record of the {of.decode()} {id_.decode()}, and not of this {tree.of}."
            report.problem("record", f"{tree.path} record {index}", says)
        if index != before + 1 or (prev != previous and previous):
            _misplaced(tree, before, index, report)
        found[index] = Sealed(leaf.digest(), fields, links or b"")
        previous = leaf.hexdigest().encode() if index > before else b""
        before = max(before, index)
    report.checked["records"] += len(found)
    return found


def _in_order(pairs: bytes, known: set[tuple[bytes, ...]]) -> bool:
    """Whether the names in an object are in order, each once; `known` are orders of names that are right."""
    names = tuple(pairs.split(b'"')[1::4])
    if names not in known:
        if any(a >= b for a, b in itertools.pairwise(names)):
            return False
        known.add(names)
    return True


def _misplaced(tree: Tree, before: int, index: int, report: Report) -> None:
    """Name what is wrong with the place of a record; where not all records are here, gaps are not."""
    if index <= before:
        says = f"It stands behind record {before}: records were moved or doubled."
        report.problem("order", f"{tree.path} record {index}", says)
    elif tree.complete and index != before + 1:
        says = f"It is missing: the next one is record {index}."
        report.problem("missing", f"{tree.path} record {before + 1}", says)
    elif tree.complete:
        says = f"It was changed: record {index} was sealed behind another one."
        report.problem("chain", f"{tree.path} record {max(before, 0)}", says)


def _states(
    bundle: Bundle, tree: Tree, records: Mapping[int, Sealed], keys: Mapping[str, bytes], report: Report
) -> None:
    """Compare the records with every signed checkpoint of their tree, and the last of these with the statement and the log."""
    stated = []
    for number, line in enumerate(bundle.lines(f"{tree.path}/checkpoints.jsonl"), start=1):
        found = _state(line, f"{tree.path} checkpoint {number}", keys, report)
        if found is not None and found.origin != tree.origin:
            report.problem("checkpoint", found.where, f"It is of {found.origin}, and not of {tree.origin}.")
        elif found is not None:
            stated.append(found)
    if not stated:
        report.problem(
            "checkpoint", f"{tree.path} checkpoints", "There is no valid signed checkpoint of these records."
        )
        return
    last = max(stated, key=lambda state: state.size)
    if (last.size, last.root.hex()) != (tree.size, tree.root):
        report.problem("checkpoint", last.where, "It is not the one that the statement names.")
    if tree.complete:
        _whole(tree, stated, last, records, report)
    else:
        _paths(bundle, tree, last, records, report)
    _log(bundle, tree, last, keys, report)


def _state(line: bytes, where: str, keys: Mapping[str, bytes], report: Report) -> State | None:
    try:
        signed = parsed(line)
    except WRONG_FORM:
        signed = None
    found = opened(signed, CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(found[0], where) if found else None
    if found and state is None:
        report.problem("checkpoint", where, "What is signed has not the form of a checkpoint.")
    return state


def _whole(
    tree: Tree, stated: Sequence[State], last: State, records: Mapping[int, Sealed], report: Report
) -> None:
    """All records are here: the tree over them is made anew, at the size of each checkpoint."""
    in_order = [records[index].leaf for index in sorted(records)]
    if len(in_order) < last.size:
        says = f"It is missing: the records end before it, and the signed checkpoint counts {last.size}."
        report.problem("missing", f"{tree.path} record {len(in_order)}", says)
    elif len(in_order) > last.size:
        says = f"It was added: the signed checkpoint counts {last.size} records."
        report.problem("added", f"{tree.path} record {last.size}", says)
    made = roots(in_order, [state.size for state in stated])
    for state in stated:
        if made.get(state.size) == state.root:
            report.checked["proofs"] += 1
        elif 0 < state.size in made and in_order[state.size - 1].hex() != state.last:
            says = f"It was changed: the signed checkpoint of {state.size} records ends in another one."
            report.problem("chain", f"{tree.path} record {state.size - 1}", says)
        elif state.size in made:
            says = (
                f"The tree over the records has another root than the one that was signed for {state.size}."
            )
            report.problem("root", state.where, says)


def _paths(bundle: Bundle, tree: Tree, last: State, records: Mapping[int, Sealed], report: Report) -> None:
    """Only some records are here: each is shown to be in the tree by its audit path."""
    shown = set()
    for number, line in enumerate(bundle.lines(f"{tree.path}/proofs.jsonl"), start=1):
        try:
            found = parsed(line)
            index, steps = whole(found["index"]), hashes(found["path"])
        except WRONG_FORM:
            report.problem("proof", f"{tree.path} proofs line {number}", "This line is no proof.")
            continue
        shown.add(index)
        where = f"{tree.path} record {index}"
        if index not in records:
            report.problem("missing", where, "There is a proof of this record, and the record is missing.")
        elif root_by_path(records[index].leaf, index, last.size, steps) != last.root:
            report.problem(
                "chain", where, "It is not in the tree that was signed: it or its proof was changed."
            )
        else:
            report.checked["proofs"] += 1
    for index in sorted(set(records) - shown):
        says = "Nothing shows that this record is in the tree that was signed."
        report.problem("proof", f"{tree.path} record {index}", says)


def _log(bundle: Bundle, tree: Tree, last: State, keys: Mapping[str, bytes], report: Report) -> None:
    """The checkpoint stands in the project's log."""
    found, where = bundle.document(f"{tree.path}/log.json"), f"{tree.path} log entry"
    if found is None:
        report.problem("log", where, "Nothing shows that this seal was entered into the project's log.")
        return
    try:
        line, index, steps = found["entry"].encode(), whole(found["index"]), hashes(found["path"])
        signed, entry = found["checkpoint"], parsed(line)
        about = (entry["of"], entry["id"], entry["size"], entry["root"])
    except WRONG_FORM:
        report.problem("log", where, "This is no entry of a log.")
        return
    signature = opened(signed, CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(signature[0], where) if signature else None
    if state is None:
        return
    if about != (tree.of, tree.id, last.size, last.root.hex()):
        report.problem("log", where, "The entry is about something else.")
    elif root_by_path(leaf_hash(line), index, state.size, steps) != state.root:
        report.problem("log", where, "The entry is not in the log that was signed.")
    else:
        report.checked["proofs"] += 1


def _tombstones(
    bundle: Bundle, tree: Tree, keys: Mapping[str, bytes], report: Report
) -> set[tuple[int, str]]:
    """The fields of which the project's log says that they were erased, by record and name."""
    found, where = bundle.document(f"{tree.path}/erased.json"), f"{tree.path} tombstones"
    named: set[tuple[int, str]] = set()
    if not isinstance(found, dict):
        return named
    entries = found.get("entries")
    signature = opened(found.get("checkpoint"), CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(signature[0], where) if signature else None
    for each in entries if state and isinstance(entries, list) else ():
        try:
            line, index = each["entry"].encode(), whole(each["index"])
            steps, entry = hashes(each["path"]), parsed(line)
            about = (entry["entry"], entry["of"], entry["id"])
            names = {(whole(record), text(name)) for record, fields in entry["records"] for name in fields}
        except WRONG_FORM:
            report.problem("tombstone", where, "This is no entry of a log.")
            continue
        if about != ("erased_fields", tree.of, tree.id):
            report.problem("tombstone", f"{where} {index}", "The entry is about something else.")
        elif state is None or root_by_path(leaf_hash(line), index, state.size, steps) != state.root:
            report.problem("tombstone", f"{where} {index}", "The entry is not in the log that was signed.")
        else:
            report.checked["proofs"] += 1
            named |= names
    return named


def _untold(
    bundle: Bundle, tree: Tree, records: Mapping[int, Sealed], erased: set[tuple[int, str]], report: Report
) -> None:
    """Fields that are not told: erased where a tombstone says so, else withheld, which is a fault where the statement says that nothing is."""
    if not report.checked["withheld"] or not (erased or not tree.withholds):
        return
    untold = {
        index: {name.decode() for name, _ in PAIR.findall(each.fields)} for index, each in records.items()
    }
    for line in bundle.lines(f"{tree.path}/disclosed.jsonl"):
        with suppress(*WRONG_FORM):
            found = parsed(line)
            untold[found["index"]] -= set(found["fields"])
    for index, name in sorted((index, name) for index, names in untold.items() for name in names):
        if (index, name) in erased:
            report.checked["erased_fields"] += 1
            report.checked["withheld"] -= 1
        elif not tree.withholds:
            says = "It is not told, and no tombstone in the log says that it was erased."
            report.problem("missing", f"{tree.path} record {index} {name}", says)


def _whole_log(bundle: Bundle, log: Log, keys: Mapping[str, bytes], report: Report) -> list[bytes]:
    """The leaves of a project's log: its entries have every root that was signed, and what they say was sealed is there or was erased."""
    lines = list(bundle.lines(f"{log.path}/entries.jsonl"))
    report.checked["records"] += len(lines)
    stated = []
    for number, line in enumerate(bundle.lines(f"{log.path}/checkpoints.jsonl"), start=1):
        found = _state(line, f"{log.path} checkpoint {number}", keys, report)
        if found is not None and found.origin == log.origin:
            stated.append(found)
        elif found is not None:
            report.problem("checkpoint", found.where, f"It is of {found.origin}, and not of {log.origin}.")
    leaves = [leaf_hash(line) for line in lines]
    made = roots(leaves, [state.size for state in stated])
    for state in stated:
        if made.get(state.size) == state.root:
            report.checked["proofs"] += 1
        else:
            says = f"The first {state.size} entries have not the root that was signed: one was changed, added or taken out."
            report.problem("root", state.where, says)
    last = max(stated, key=lambda state: state.size, default=None)
    if last is None or (last.size, last.root.hex(), len(lines)) != (log.size, log.root, log.size):
        report.problem(
            "checkpoint", f"{log.path} checkpoints", "The log does not end where the statement says."
        )
    _witnessed(bundle, log, leaves, report)
    _access(bundle, log, lines, report)
    _present(bundle, log, lines, report)
    return leaves


def _witnessed(bundle: Bundle, log: Log, leaves: Sequence[bytes], report: Report) -> None:
    """What a witness took is the begin of this log; whether it cosigned it, only its own key tells."""
    taken = {}
    for number, line in enumerate(bundle.lines(f"{log.path}/witnessed.jsonl"), start=1):
        where = f"{log.path} witnessed line {number}"
        try:
            found = parsed(line)
            origin, size, root, *_ = text(found["sent"]).split("\n\n", 1)[1].split("\n")
            state = State(where, origin, digits(size), base64.b64decode(root, validate=True), "")
            taken[state] = (text(found["url"]), bool(text(found["answer"]).strip()))
        except WRONG_FORM:
            report.problem("witness", where, "This line tells of nothing that a witness took.")
    made = roots(leaves, [state.size for state in taken])
    for state, (url, cosigned) in taken.items():
        if (state.origin, state.root) != (log.origin, made.get(state.size)):
            report.problem("witness", state.where, "A witness took another history than this one.")
            continue
        report.checked["witnessed"] += 1
        answer = "its key tells whether it cosigned them" if cosigned else "it gave no cosignature"
        last = f"Whether {url} took the first {state.size} entries: ask it; {answer} (log/witnessed.jsonl)."
    if report.checked["witnessed"]:
        report.not_checked.append(last)


def _log_states(bundle: Bundle, stated: Stated) -> list[Any]:
    """The signed states of the project's log that are in the bundle; whether they are valid is told elsewhere."""
    found = []
    for line in bundle.lines(f"{stated.log.path}/checkpoints.jsonl") if stated.log else ():
        with suppress(*WRONG_FORM):
            found.append(parsed(line))
    entries = [bundle.document(f"{tree.path}/log.json") for tree in stated.trees]
    return found + [each.get("checkpoint") for each in entries if isinstance(each, dict)]


def _timestamps(bundle: Bundle, signed: Sequence[Any], report: Report) -> None:
    """Each timestamp is beside the signed state that it dates; whether it is the authority's, OpenSSL tells."""
    dated = []
    for name in sorted(bundle.names):
        match = re.fullmatch(r"timestamps/([0-9]{1,15})\.tsr", name)
        if match is None:
            continue
        state = f"timestamps/{match[1]}.json"
        dates = bundle.document(state)
        if dates is None or dates not in signed:
            report.problem("timestamp", name, "What it dates is not among the signed states of the log.")
        else:
            dated.append(int(match[1]))
    if dated:
        last = max(dated)
        command = (
            f"openssl ts -verify -in timestamps/{last}.tsr -data timestamps/{last}.json -CAfile AUTHORITY.pem"
        )
        report.not_checked.append(
            f"The timestamps of {len(dated)} states of the log; for the newest: {command}"
        )


def _access(bundle: Bundle, log: Log, lines: Sequence[bytes], report: Report) -> None:
    """Every access log that the log committed to and that was not erased is there, and begins with the lines that it had then."""
    there = _access_lines(bundle, log, report)
    for chain, heads in _access_heads(lines).items():
        found = there.get(chain, [])
        for number, head in heads.items():
            if number > len(found):
                says = f"The log committed to {number} lines of it, and {len(found)} are there."
                report.problem("access", f"access log of {chain}", says)
            elif number and found[number - 1] != head:
                says = "It or a line before it is not the one that the log committed to."
                report.problem("access", f"access log of {chain} line {number}", says)


def _access_heads(lines: Sequence[bytes]) -> dict[str, dict[int, str]]:
    """The hash of each line that was the last of an access log when the log committed to it."""
    heads: dict[str, dict[int, str]] = {}
    for line in lines:
        with suppress(*WRONG_FORM):  # told where what was sealed is looked for
            entry = parsed(line)
            if entry["entry"] == "access":
                heads.setdefault(text(entry["chain"]), {})[whole(entry["lines"])] = text(entry["sha256"])
            elif (entry["entry"], entry["of"]) == ("erased", "access"):
                heads.pop(text(entry["id"]), None)
    return heads


def _access_lines(bundle: Bundle, log: Log, report: Report) -> dict[str, list[str]]:
    """The hashes of the lines of each access log, each of which names the one before it."""
    there: dict[str, list[str]] = {}
    for number, line in enumerate(bundle.lines(f"{log.path}/access.jsonl"), start=1):
        try:
            found = parsed(line)
            chain, sequence, previous = (
                text(found["chain"]),
                whole(found["sequence"]),
                text(found["previous_sha256"]),
            )
        except WRONG_FORM:
            report.problem("access", f"{log.path} access line {number}", "This is no line of an access log.")
            continue
        hashes = there.setdefault(chain, [])
        if (sequence, previous) != (len(hashes) + 1, hashes[-1] if hashes else NO_RECORD):
            says = "It does not follow the line before it: one was changed, put in or left out."
            report.problem("access", f"access log of {chain} line {sequence}", says)
        hashes.append(sha256(line).hex())
        report.checked["access_lines"] += 1
    return there


def _present(bundle: Bundle, log: Log, lines: Sequence[bytes], report: Report) -> None:
    """What was sealed and not erased since is there, with the root that it had when most of it was sealed."""
    sealed, there = _sealed_by(log, lines, report), _there(bundle, log, report)
    for name, state in sealed.items():
        where = f"{name[0]} {name[1]}"
        if name not in there:
            report.problem("dropped", where, "It was sealed and never erased, and it is not there any more.")
        elif there[name] != state:
            says = f"It was sealed with {state[0]} records under another root than it has now."
            report.problem("changed", where, says)
        else:
            report.checked["sealed"] += 1
    for of, id_, _ in there.keys() - sealed.keys():
        report.problem("log", f"{of} {id_}", "It is there, and the log does not say that it was sealed.")


def _sealed_by(log: Log, lines: Sequence[bytes], report: Report) -> dict[Name, tuple[int, str]]:
    """Size and root of everything that was sealed and not erased since, as most of it was sealed."""
    sealed: dict[Name, tuple[int, str]] = {}
    known: dict[tuple[Name, int], str] = {}
    for index, line in enumerate(lines):
        where = f"{log.path} entry {index}"
        try:
            entry = parsed(line)
            kind = entry["entry"]
            if kind in ("key", "access"):
                continue
            if kind == "erased_fields":
                report.checked["erased_fields"] += sum(len(names) for _, names in entry["records"])
                continue
            name = (text(entry["of"]), text(entry["id"]), whole(entry["generation"]))
            state = (0, "") if kind == "erased" else (whole(entry["size"]), text(entry["root"]))
        except WRONG_FORM:
            report.problem("log", where, "This is no entry of a log.")
            continue
        if kind == "erased":
            sealed.pop(name, None)
            report.checked["erased"] += 1
        elif known.setdefault((name, state[0]), state[1]) != state[1]:
            report.problem(
                "changed", where, f"The same {state[0]} records were sealed before under another root."
            )
        else:
            sealed[name] = max(sealed.get(name, state), state)
    return sealed


def _there(bundle: Bundle, log: Log, report: Report) -> dict[Name, tuple[int, str]]:
    there = {}
    for number, line in enumerate(bundle.lines(f"{log.path}/present.jsonl"), start=1):
        try:
            found = parsed(line)
            name = (text(found["of"]), text(found["id"]), whole(found["generation"]))
            there[name] = (whole(found["size"]), text(found["root"]))
        except WRONG_FORM:
            report.problem(
                "log", f"{log.path} present line {number}", "This line names nothing that is sealed."
            )
    return there


def _disclosed(
    bundle: Bundle,
    path: str,
    records: Mapping[int, Sealed],
    payloads: Mapping[str, bytes],
    helper: Helper | None,
    report: Report,
) -> None:
    """Every field that is told is what was committed to; fields that are not told are withheld, and counted."""
    name = f"{path}/disclosed.jsonl"
    made = helper.lines(bundle) if helper else None
    sound = {claimed.encode() for claimed, digest in payloads.items() if digest.hex() == claimed} | {b""}
    told, doubtful, before = 0, dict[int, bool](), -1
    in_turn = iter(records.items())
    for number, line in enumerate(map(committed, bundle.lines(name)) if made is None else made, start=1):
        expected, record = next(in_turn, NOTHING)
        count = record.fields.count(b":")
        if expected > before and line == b"%d %d %b " % (
            expected,
            count,
            record.fields,
        ):  # all of it, and in turn
            told, before = told + count, expected
            continue
        written_index, said, fields, needed = line.split(b" ")
        index, pairs = int(written_index), fields.split(b",") if fields else []
        if index not in records or index <= before or not sound.issuperset(needed.split(b",")):
            doubtful[number] = 0 <= index <= before
        elif len(pairs) == int(said) == len(set(pairs)) and all(
            pair in records[index].fields for pair in pairs
        ):
            told += len(pairs)
        else:
            doubtful[number] = False
        before = max(before, index)
    for number, line in enumerate(bundle.lines(name) if doubtful else (), start=1):
        if number in doubtful:
            where = f"{path} disclosed line {number}"
            told += _one_by_one(line, where, path, records, payloads, report)
            if doubtful[number]:
                report.problem("order", where, "A record is told of twice, or behind a later one.")
    report.checked["fields"] += told
    report.checked["withheld"] += sum(each.fields.count(b":") for each in records.values()) - told


# Objects as tuples of pairs, so that a name which stands there twice is not lost.
_decoded = json.JSONDecoder(object_pairs_hook=tuple).raw_decode
UNCLEAR = b"-1 0  "
TOLD = (tuple, int, tuple)
NOTHING = (-1, Sealed(b"", b"", b""))


def committed(line: bytes) -> bytes:
    """What a line that tells of a record comes to: its index, how many fields it tells, the commitments to them as an envelope writes
    them, and the payloads that it names. Where it is not written as the product writes it, `UNCLEAR`: then it is read with more patience.
    """
    made, needed, sha = list[str](), list[str](), hashlib.sha256
    try:
        written = line.decode("utf-8")
        found, end = _decoded(written)
        (first, index), (second, fields) = found
        if first != "index" or second != "fields" or (type(found), type(index), type(fields)) != TOLD:
            return UNCLEAR
        for name, each in fields:
            if len(each) == 2:  # noqa: PLR2004  # as below, and here because it is done a million times
                salt, told = each
                commitment = sha(COMMITMENT_TAG + _bytes(salt) + sha(told.encode()).digest()).hexdigest()
            else:
                commitment, payload = _committed(each)
                needed.append(payload)
            made.append(f'"{name}":"{commitment}"')
        pairs = ",".join(made)
        if (
            end != len(written) or " " in pairs or "\n" in pairs
        ):  # what stands between the parts of what it comes to
            return UNCLEAR
        return f"{index} {len(made)} {pairs} {','.join(needed)}".encode()
    except WRONG_FORM:
        return UNCLEAR


def _committed(each: Any) -> tuple[str, str]:
    """The commitment, in hex, to a field as it is told, `[salt, text]`, or `[salt, null, SHA-256 of a payload]`, and that SHA-256."""
    if len(each) == 2:  # noqa: PLR2004
        salt, told = each
        payload, digest = "", hashlib.sha256(told.encode()).digest()
    else:
        salt, told, payload = each
        if told is not None or not SHA256.fullmatch(payload):
            raise ValueError("there is a text beside a payload, or another name than a payload's")
        digest = bytes.fromhex(payload)
    return hashlib.sha256(COMMITMENT_TAG + bytes.fromhex(salt) + digest).hexdigest(), payload


class Helper:
    """Another process of this program: it reads what is told of the records while this one reads the records."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self.name, self.process, self.output = name, process, output

    def lines(self, bundle: Bundle) -> list[bytes] | None:
        """What each line comes to; None where the other process could not say it to its end."""
        with self.output:
            if self.process.wait() != 0:
                return None
            self.output.seek(0)
            *lines, digest = self.output.read().split(b"\n")
        bundle.hashes[self.name] = digest.decode()
        return lines

    def end(self) -> None:
        """Leave nothing behind where its answer was not asked for."""
        self.output.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _helped(bundle: Bundle, tree: Tree) -> Helper | None:
    """A helper where one is worth it and can be had."""
    name = f"{tree.path}/disclosed.jsonl"
    large = name in bundle.names and bundle.zip.getinfo(name).file_size >= WORTH_A_PROCESS
    if not large or (os.cpu_count() or 1) == 1 or not sys.executable or not Path(__file__).is_file():
        return None
    output = tempfile.TemporaryFile()  # noqa: SIM115  # its reader closes it
    command = [sys.executable, "-I", "-S", __file__, bundle.path, "--told", name]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
        )
    except OSError:
        output.close()
        return None
    return Helper(name, process, output)


def _help(path: str, name: str) -> int:
    """Do the work of a helper: what each line of a file comes to, and the SHA-256 of the file."""
    report = Report()
    bundle = Bundle(path, report)
    for line in bundle.lines(name):
        sys.stdout.buffer.write(committed(line) + b"\n")
    sys.stdout.buffer.write(bundle.hashes.get(name, "").encode())
    return 1 if report.problems else 0


def _one_by_one(
    line: bytes,
    where: str,
    path: str,
    records: Mapping[int, Sealed],
    payloads: Mapping[str, bytes],
    report: Report,
) -> int:
    """How many fields of a record are what was committed to; each that is not is named."""
    try:
        found = parsed(line)
        index, fields = found["index"], found["fields"]
        if type(index) is not int or type(fields) is not dict:
            raise ValueError("another form")
    except WRONG_FORM:
        report.problem("field", where, "This line tells of no record.")
        return 0
    record = records.get(index)
    if record is None:
        report.problem("missing", f"{path} record {index}", "Its fields are told, and the record is missing.")
        return 0
    commitments = {name.decode(): value for name, value in PAIR.findall(record.fields)}
    right = 0
    for name, each in fields.items():
        says = _wrong_with(each, payloads, commitments.get(name))
        if says is None:
            right += 1
        else:
            report.problem("field", f"{path} record {index} {name}", says)
    return right


def _wrong_with(each: Any, payloads: Mapping[str, bytes], commitment: bytes | None) -> str | None:
    try:
        made, payload = _committed(each)
    except WRONG_FORM:
        return "It is not told in a form that can be checked."
    if payload and payload not in payloads:
        return f"Its payload {payload} is not in the bundle."
    if made.encode() == commitment and (not payload or payloads[payload].hex() == payload):
        return None
    return "This is not what was sealed: it or its salt was changed."


def _links(trees: Mapping[str, Mapping[int, Sealed]], report: Report) -> None:
    """What repeats a record names it by its leaf hash; that record is in the bundle."""
    linked = [
        (f"{path} record {index}", record.links)
        for path, records in trees.items()
        for index, record in records.items()
        if record.links
    ]
    known = {each.leaf.hex().encode() for records in trees.values() for each in records.values() if linked}
    for where, links in linked:
        for name, leaf in PAIR.findall(links):
            if leaf in known:
                report.checked["links"] += 1
            else:
                says = f"It repeats a record ({name.decode()}) that is not in the bundle, or was changed."
                report.problem("link", where, says)


# --- telling ---


def told(report: Report) -> Iterator[str]:
    """The report for people, line by line."""
    yield f"{'FAILED' if report.problems else 'VERIFIED'}  {report.subject}"
    yield f"signed by {report.key or 'no valid key'}"
    if report.older:
        yield f"{SAID_OF_OLDER[report.older.holds]}  it is signed by {report.older.key or 'no valid key'}"
    yield "checked: " + ", ".join(f"{count:,} {name}" for name, count in report.checked.items() if count)
    for each in report.problems:
        yield f"FAULT ({each['code']}) {each['where']}: {each['says']}"
    if report.more:
        yield f"and {report.more:,} more faults"
    for says in report.not_checked:
        yield f"NOT CHECKED: {says}"
    for says in NOT_PROVEN:
        yield f"NOT PROVEN: {says}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the bundle that the command line names; the exit code."""
    parser = argparse.ArgumentParser(
        prog="tm_verify.py", description="Check an evidence bundle of Time Machine."
    )
    parser.add_argument("bundle", help="the zip file")
    key_help = "the key that must have signed it; its fingerprint comes another way than the bundle"
    parser.add_argument("--key", metavar="ed25519:FINGERPRINT", help=key_help)
    older_help = "a bundle of the same that was kept from before: is it the beginning of this one?"
    parser.add_argument("--older", metavar="OLDER.zip", help=older_help)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--told", help=argparse.SUPPRESS)  # how this program starts itself to be quicker
    given = parser.parse_args(arguments)
    if given.told is not None:
        return _help(given.bundle, given.told)
    if given.key is not None and not is_fingerprint(given.key):
        parser.error("--key is written ed25519: and 64 digits of 0-9 and a-f")
    gc.disable()  # nothing here refers to itself, and looking for what does takes a tenth of the time
    try:
        report = verify(given.bundle, given.key, given.older)
    except Unreadable as why:
        sys.stderr.write(f"{given.bundle}: {why}\n")
        return 2
    written = json.dumps(report.as_json(), indent=2) if given.json else "\n".join(told(report))
    sys.stdout.write(written + "\n")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
