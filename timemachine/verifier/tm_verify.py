#!/usr/bin/env python3
"""Verify an evidence bundle of Time Machine. One file, Python 3.10 or newer, no network, nothing to install.

    python3 tm_verify.py BUNDLE.zip [--key ed25519:FINGERPRINT] [--older OLDER.zip] [--json]

Exit code 0, VERIFIED: the bundle is consistent and signed by the key of `--key`. 1, FAILED: it is not; each problem is listed with its
record. 2: the file is not a bundle, or the command line is wrong. 3, CONSISTENT, SIGNER NOT CHECKED: there is no problem, but without
`--key` the signer is not checked: anyone can make such a bundle with a key of their own.

With `--older`, an earlier bundle of the same log or session, it also checks that what was sealed then is the beginning of what is sealed
now. For a replay or comparison that ran again or was resealed after an erasure, it checks that its earlier seal is in the log. With the
bundle of a log, the older one can be any bundle of the project: its seals must be in the log.

Get this file and the fingerprint of the key from another source than the bundle: a bundle with its own verifier and its own key proves
nothing. It checks every file against the signed statement; every signature; the form, position and hash chain of every record; the tree
over the records (RFC 6962) against the signed checkpoints; every disclosed field against its salted commitment; the link of every
replayed step to the record it repeats; the status, start and end of a session in the statement against its seal; the results that a continuation says it
got from the record against its copied steps; that one chain of keys signed
everything; and the entry of the checkpoint in the project's log. For a complete log: every root that was
ever signed, and that nothing sealed is missing without a tombstone. For a timestamp: that it belongs to the signed state, but not
who issued it.

A large bundle is read by three processes, if the machine allows it.
"""

from __future__ import annotations

import argparse
import base64
import bisect
import functools
import gc
import hashlib
import itertools
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, NoReturn

FORMAT = "timemachine-evidence-1"
STATEMENT, KEYS, PAYLOADS, REPLACED = "statement.json", "keys.json", "payloads.jsonl", "replaced.json"
STATEMENT_TYPE = "application/vnd.in-toto+json"
CHECKPOINT_TYPE = "application/vnd.timemachine.checkpoint.v1"
MOST_PROBLEMS = 100  # that are listed; the others are counted
MOST_COUNTED = 100_000  # problems or doubtful lines after which the check stops
MOST_FORGED = 1_000  # invalid signatures, each of which takes milliseconds, after which it stops
MOST_ERASURES, MOST_RECORDS, MOST_DATED = (
    20,
    10,
    10,
)  # erasures that are listed, records of each, timestamps; --json has all
LONGEST_WORDS = 2_000  # characters of a printed line
LARGEST_SMALL_FILE = 64 * 1024 * 1024
CHUNK = 1 << 20
# A recorded payload has at most 64 MiB, and JSON needs at most six bytes for one.
LONGEST_LINE = 512 * 1024 * 1024
# Deflate compresses up to 1,032 bytes to one. Repetitive texts reach 50 to 100, long runs of one letter reach the maximum.
MOST_INFLATED, ALLOWED_INFLATED = 200, 2 * 1024 * 1024 * 1024
NO_RECORD = "0" * 64
COMMITMENT_TAG = b"tm-commit-v1\x00"
_bytes = bytes.fromhex
WORTH_A_PROCESS = 8 * 1024 * 1024  # bytes to read; starting a process takes as long as reading some
TURNS = 2  # additional processes; with its own share, the work is even on two cores
# An envelope is canonical JSON (RFC 8785), so any other form of it is not read at all.
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
FILE_NAME = re.compile(r"(?:[a-z0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*")
SESSION, FACTS = "session", "facts"
CONTINUES, COPIED, WORDS, OUTPUT = "continues", "copied_from", "words", "output"
TURN = re.compile(
    r"continue-([0-9]+\.[0-9]+)(?:\.result)?"
)  # the id of a step of a tool call, or of its result
CONTINUATION_ENDED, CALL = "continuation_ended", b"llm_call"
MOST_STEPS = 20  # of a continuation that are named
ENDED, CLOSED, UNKNOWN = "ended", "closed", "unknown"
VERIFIED, FAILED, CONSISTENT = "verified", "failed", "consistent"
HEADINGS = {VERIFIED: "VERIFIED", FAILED: "FAILED", CONSISTENT: "CONSISTENT, SIGNER NOT CHECKED"}
EXIT_CODES = {VERIFIED: 0, FAILED: 1, CONSISTENT: 3}
ERASURE = "erasure"
BECAUSE = re.compile(r"erasure|run_again")
ID = re.compile(r"[0-9a-f-]{36}")
ORIGIN = re.compile(r"(timemachine/[0-9a-zA-Z-]{1,64})/([a-z]+)/([0-9a-f-]{36})(?:/([1-9][0-9]{0,9}))?")
AT = re.compile(r"[0-9A-Z:.+-]{10,40}")
LEAST = 2  # records that evidence shows of a thing: the thing itself, and one more
IN_PART = "comparison"  # of which a bundle may be evidence with records left out; a session is shown up to a step, a replay whole
MOST_RANGES = 20  # of records that are left out, which are named
OF_REPLAYS = "That a replay shows why the model answered as it did: providers change their models, and the same answer does not prove a cause."
NOT_PROVEN = (
    "That the agent did what was recorded: hashes prove that nothing changed after it was sealed, not that what was sent was true.",
    "That this is the only history: anyone who holds the signing key could seal another one. To compare with a bundle that you kept, give it with --older.",
    "That nothing was recorded later: a bundle shows what was sealed up to the time named above.",
    "That report.html, README.txt and the names in the statement are right: they are signed but not compared with the records.",
    "That a time is right: it comes from the server's clock, unless an independent timestamp is named above.",
    OF_REPLAYS,
)
RESULT_OF_OLDER = {
    True: "THE OLDER ONE IS ITS BEGINNING",
    False: "THE OLDER ONE IS NOT ITS BEGINNING",
    None: "THE OLDER ONE WAS COMPARED IN PART",
}
RESULT_OF_EARLIER = {
    True: "THE OLDER ONE IS AN EARLIER SEAL OF IT, IN THE SAME LOG",
    False: "THE OLDER ONE IS NOT AN EARLIER SEAL OF IT",
    None: "THE OLDER ONE IS OF AN EARLIER SEAL, AND WAS COMPARED IN PART",
}
RESULT_OF_LOG = {
    True: "THE OLDER ONE IS IN THIS LOG",
    False: "THE OLDER ONE IS NOT IN THIS LOG",
    None: "WHETHER THE OLDER ONE IS IN THIS LOG IS NOT SHOWN",
}
ONLY_RECORDS = " AS FAR AS ITS RECORDS GO"  # where something else is wrong
COUNT_NAMES = {"unfit_fields": "fields that do not match", "withheld": "fields withheld"}
ONE = re.compile(r"\b(file|signature|record|field|link|proof|line|state)s( that do)?\b")
OTHER_KEY = (
    "That key signed some of the content. If it was replaced, KEY REPLACED or the bundle of the project's log names the new key under the old key's "
    "signature: check that, and ask the person who gave you the fingerprint."
)
HOW_THERE = (
    "That what log/present.jsonl lists exists: only the server states this. Ask for the bundle of each item, and give it with --older "
    "together with this one."
)
AUDIT_LOG_ELSEWHERE = "The audit log: the project's log commits to it, but this bundle does not contain it. Ask for the log with its audit log."
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# How a zip is written (PKWARE's APPNOTE 6.3): before each file, in the directory, after a streamed file, and at the end.
LOCAL, CENTRAL = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L")
END, END_64, FIND_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
STREAMED, ZIP_64, IN_64 = 8, 1, 0xFFFFFFFF
NOBODY_S = "which no file and no signature covers"
# What reading a file of a zip raises where its bytes were changed.
DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
# DER, as far as a timestamp needs it, and the hashes that authorities take.
SEQUENCE, OCTETS, OBJECT_ID, GENERALIZED_TIME, EXPLICIT = 0x30, 0x04, 0x06, 0x18, 0xA0
LONG, SIZES = 0x80, range(1, 5)  # a long length, and the possible numbers of its bytes
_SHA_2 = bytes.fromhex("6086480165030402")
IMPRINTS = {_SHA_2 + b"\1": "sha256", _SHA_2 + b"\2": "sha384", _SHA_2 + b"\3": "sha512"}
WRONG_FORM = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


class Unreadable(Exception):
    """The file cannot be verified at all. The message is `plain`."""

    def __init__(self, says: str) -> None:
        super().__init__(plain(says))


def unreadable(path: str, why: Unreadable) -> dict[str, Any]:
    """The JSON report on a file that cannot be verified at all."""
    return {"format": FORMAT, "result": "unreadable", "file": path, "says": str(why)}


class Indefinite(ValueError):
    """A BER element of indefinite length, which DER forbids and some authorities write."""


class TooMuch(Exception):
    """There are so many problems that the check stops."""


def plain(value: object) -> str:
    """The text with unprintable characters escaped, which could overwrite or reorder the output of a terminal."""
    words = str(value)
    short = words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}…"
    if short.isprintable():
        return short
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in short
    )


class ErasureCount(NamedTuple):
    """The number of erased fields, and the time of the last erasure, if known."""

    fields: int = 0
    last: str | None = None


class Tombstone(NamedTuple):
    """An erasure in the log: its entry, what was erased (`records` and their fields; None: everything), when, by whom and why, if recorded.

    `anew` is the run as which a comparison was resealed, if only its seal was replaced; `turns` are the records that were deleted completely.
    """

    entry: int
    of: str
    id: str
    generation: int
    records: list[tuple[int, list[str]]] | None
    at: str | None
    by: str | None
    reason: str | None
    anew: int | None
    turns: tuple[int, ...] = ()

    def __str__(self) -> str:
        shown = [
            f"{'turn' if index in self.turns else 'record'} {index}{' deleted completely' * (index in self.turns)} ({', '.join(names)})"
            for index, names in (self.records or [])[:MOST_RECORDS]
        ]
        more = len(self.records or ()) - len(shown)
        what = "; ".join(shown + [f"and {more:,} more records"] * bool(more)) or "all of it"
        if self.anew is not None:
            what = f"resealed after an erasure, as run {self.anew}"
        details = [f"by {self.by}"] * bool(self.by) + [f"because: {self.reason}"] * bool(self.reason)
        return ", ".join([f"{self.of} {self.id}: {what}", f"at {self.at or 'an unknown time'}", *details])


class Earlier(NamedTuple):
    """A replaced seal: its run, number of records, root and time, and the reason and log entry of the replacement."""

    of: str
    id: str
    generation: int
    size: int
    root: str
    sealed_at: str
    because: str
    replaced_at: str | None
    log_entry: int | None

    def __str__(self) -> str:
        at = f" at {self.replaced_at}" if self.replaced_at else ""
        entry = "" if self.log_entry is None else f", by log entry {self.log_entry}"
        why = (
            f"replaced after an erasure{at}{entry}"
            if self.because == ERASURE
            else "replaced when it ran again"
        )
        return f"{self.of} {self.id}, run {self.generation}: {self.size:,} records under {self.root}, sealed at {self.sealed_at}, {why}"


class Run(NamedTuple):
    """The run of a tree, and what the log contains about it and earlier runs: its entry, earlier states as entry and root by run and size,
    and the entry by which a run was resealed.
    """

    of: str
    id: str
    log: str
    generation: int
    withholds: bool
    entry: int | None = None
    earlier: Sequence[Earlier] = ()
    states: Mapping[tuple[int, int], Sequence[tuple[int, str]]] = MappingProxyType({})
    anew: Mapping[int, int] = MappingProxyType({})


class Tree(NamedTuple):
    """A tree in the statement; `complete` if the bundle has all its records, `withholds` if some fields may be withheld.

    Its origin names its project and run (`generation`), and so the log that contains it. `erased` is the stated number of erased
    fields, if the bundle has no tombstones. `about` is what the statement says about a session.
    """

    path: str
    of: str
    id: str
    origin: str
    log: str
    generation: int
    size: int
    root: str
    complete: bool
    withholds: bool = True
    erased: ErasureCount | None = None
    earlier: Sequence[Earlier] = ()
    about: Mapping[str, Any] = MappingProxyType({})


class Log(NamedTuple):
    """A project's log in the statement."""

    path: str
    origin: str
    size: int
    root: str


class Stated(NamedTuple):
    """The statement: trees of records or a project's log, and every file with its SHA-256."""

    trees: list[Tree]
    log: Log | None
    files: dict[str, str]


Field = tuple[int, str]
"""A field: its record and its name."""
Name = tuple[str, str, int]
"""What was sealed: its type, id and run."""


class Sealed(NamedTuple):
    """The leaf hash of a record, and the commitments, links and kind in its envelope."""

    leaf: bytes
    fields: bytes
    links: bytes
    kind: bytes = b""


class DisclosedFields(NamedTuple):
    """The fully disclosed records, the disclosed fields of others, and the doubtful lines by number, each with the last record before it."""

    of_all: set[int]
    of_some: dict[int, set[str]]
    doubtful: dict[int, int]


class Begin(NamedTuple):
    """The subject and key of an older bundle, and whether it is the beginning of this one (`holds`); None if not all can be compared.

    `anew` is the reason if this one has another run; `holds` is then whether the log of this one has the seal of the older one. If this
    one is the log (`in_log`), `holds` is whether it has the older one's seals.
    """

    subject: str | None
    key: str | None
    holds: bool | None
    anew: str | None = None
    in_log: bool = False


class Disclosure(NamedTuple):
    """The commitments of a tree's records, the undisclosed fields, the disclosed fields that do not match, the undisclosed fields that a
    tombstone names, whether some may be withheld, and whether the statement reports erased fields without a tombstone.
    """

    sealed: Mapping[int, bytes] = MappingProxyType({})
    undisclosed: Mapping[int, set[str]] = MappingProxyType({})
    unfit: Mapping[int, set[str]] = MappingProxyType({})
    erased: Mapping[Field, str | None] = MappingProxyType({})
    withholds: bool = False
    stated: bool = False


class Leaves(NamedTuple):
    """The leaf hashes of a tree by index, the signed number and root, the name of a record, the time of signing, and the disclosed fields."""

    found: Mapping[int, bytes]
    size: int
    root: str
    complete: bool
    name: str
    at: str
    disclosure: Disclosure = Disclosure()
    run: Run | None = None


class BundleContent(NamedTuple):
    """The content of a bundle: the report, and the trees by origin."""

    report: Report
    trees: dict[str, Leaves]


class State(NamedTuple):
    """A signed checkpoint: where it stands, whose it is, how many records it counts, their root, the leaf of the last, when, and whether more may come.
    For a session also its status, start and end at that time; empty in those of earlier versions.
    """

    where: str
    origin: str
    size: int
    root: bytes
    last: str
    at: str = ""
    state: str = ""
    key: str | None = None
    status: str = ""
    started: str = ""
    ended: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the session had ended; a state of an earlier version only says that no more records can follow."""
        return self.status == ENDED or (not self.status and self.state == CLOSED)


class Continuation(NamedTuple):
    """What the branch of a continuation continues according to its record 0, how it ended according to its last step, None if that is
    not disclosed, and the steps with tool results from the record and from a person.
    """

    id: str
    session: str
    step: int
    model: str
    replay: str
    ended: str | None
    recorded: list[int]
    supplied: list[int]
    all_disclosed: bool = True

    def __str__(self) -> str:
        ended = self.ended or "how it ended is not disclosed"
        recorded, supplied = _steps(self.recorded), _steps(self.supplied)
        steps = f"results from the record: {recorded}; supplied by a person: {supplied}"
        if not self.all_disclosed:
            steps = f"results disclosed as from the record: {recorded}; as supplied by a person: {supplied}; others are not disclosed"
        return f"of session {self.session} from step {self.step:,} with {self.model}: {ended}; {steps}"


def _steps(numbers: Sequence[int]) -> str:
    named = ", ".join(f"{each:,}" for each in numbers[:MOST_STEPS])
    more = f" and {len(numbers) - MOST_STEPS:,} more" if len(numbers) > MOST_STEPS else ""
    return f"step{'s' if len(numbers) > 1 else ''} {named}{more}" if numbers else "none"


class Entered(NamedTuple):
    """The log entry of a seal by leaf hash, and the signed state of the log that contains it."""

    where: str
    entry: int
    leaf: bytes
    state: State


class Replaced(NamedTuple):
    """A replaced key by its log entry; `vouched` if the earlier key signed the log with that entry."""

    entry: int
    key: str
    replaces: str
    vouched: bool

    def __str__(self) -> str:
        says = "under the earlier one's signature" if self.vouched else "which the earlier one did not sign"
        return f"{self.replaces} by {self.key}, {says}"


class Shown(NamedTuple):
    """How much of a tree is included: the records, the signed number and time, and whether more can follow."""

    of: str
    id: str
    records: int
    size: int
    sealed_at: str
    more_may_come: bool
    erased: int = 0
    last_erased: str | None = None
    withheld: int = 0
    unfit: int = 0
    signed_by: str | None = None
    part: bool = False

    def __str__(self) -> str:
        name = "entries" if self.of == "log" else "records"
        more = "more may come" if self.more_may_come else "no more can follow"
        more += (
            f" or exist: this is a state of its first {self.size:,}"
            if self.more_may_come and self.part
            else ""
        )
        whose = "the log" if self.of == "log" else f"{self.of} {self.id}"
        last = f", most recently at {self.last_erased}" if self.last_erased else ""
        erased = f"; {_fields(self.erased)} erased permanently{last}" if self.erased else ""
        withheld = f"; {_fields(self.withheld)} withheld" if self.withheld else ""
        wrong = (
            f"; {_fields(self.unfit)} {'does' if self.unfit == 1 else 'do'} not match" if self.unfit else ""
        )
        return f"{whose}: {self.records:,} of {self.size:,} {name} shown, sealed at {self.sealed_at}, {more}{erased}{withheld}{wrong}"


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number:,} fields"


class Dated(NamedTuple):
    """A timestamp (RFC 3161): according to its authority, the log's signed state with this many entries existed by then; `file` has it.

    `compared` is whether it belongs to that state: None if its hash algorithm is unknown.
    """

    entries: int
    at: str
    file: str
    compared: bool | None

    def __str__(self) -> str:
        what = "" if self.compared else ", by an unknown hash algorithm"
        return f"{self.at} of the log with its first {self.entries:,} {'entry' if self.entries == 1 else 'entries'}{what} ({self.file})"


class Report:
    """The result of the verification."""

    def __init__(self) -> None:
        self.problems: list[dict[str, str]] = []
        self.more = self.forged = 0
        self.stopped: str | None = None
        names = (
            "files",
            "signatures",
            "records",
            "fields",
            "withheld",
            "unfit_fields",
            "links",
            "proofs",
            "sealed",
            "erased",
            "compared",
            "erased_fields",
            "witnessed",
            "access_lines",
            "audit_lines",
        )
        self.checked = dict.fromkeys(names, 0)
        self.not_checked: list[str] = []
        self.subject: str | None = None
        self.key: str | None = None
        self.is_key_known = False  # whether it is the key that was given with --key
        self.signers: dict[str, str] = {}  # each key that signed something, and where it is first found
        self.logs: list[str] = []
        self.shown: list[Shown] = []
        self.earlier: list[Earlier] = []
        self.erasures: list[Tombstone] = []
        self.replaced: list[Replaced] = []
        self.dated: list[Dated] = []
        self.missing: list[tuple[str, str]] = []
        self.continuations: list[Continuation] = []
        self.entered: list[Entered] = []
        self.older: Begin | None = None

    @property
    def failed(self) -> bool:
        """Whether there are problems, or so many that the check stopped."""
        return bool(self.problems or self.stopped)

    @property
    def result(self) -> str:
        """`failed`, `verified`, or `consistent` if there are no problems, but no key was given to compare the signer with."""
        return FAILED if self.failed else VERIFIED if self.is_key_known else CONSISTENT

    def problem(self, code: str, where: str, says: str) -> None:
        """Add a problem; after the first hundred they are only counted. Raises `TooMuch` if there are too many."""
        if len(self.problems) < MOST_PROBLEMS:
            short = where[:LONGEST_WORDS], says[:LONGEST_WORDS]
            self.problems.append({"code": code, "where": short[0], "says": short[1]})
        else:
            self.more += 1
        if self.more + len(self.problems) >= MOST_COUNTED:
            raise TooMuch(f"The check stopped after {MOST_COUNTED:,} faults. The rest was not checked.")

    def as_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "format": FORMAT,
            "result": self.result,
            "subject": self.subject,
            "key": self.key,
            "logs": self.logs,
            "shown": [each._asdict() for each in self.shown],
            "earlier_seals": [each._asdict() for each in self.earlier],
            "erasures": [each._asdict() for each in self.erasures],
            "replaced_keys": [each._asdict() for each in self.replaced],
            "timestamps": [each._asdict() for each in self.dated],
            "continuations": [each._asdict() for each in self.continuations],
            "older": self.older._asdict() if self.older else None,
            "no_longer_told": [{"where": where, "why": why} for where, why in self.missing],
            "checked": self.checked,
            "problems": self.problems,
            "more_problems": self.more,
            "stopped": self.stopped,
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
    """The root of the tree over the first leaves, for each requested size."""
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
    """The root of an audit path from a leaf; None if the path has the wrong length."""
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
SHORTEST_ENTRY = 40  # bytes of an entry of a log; it has its time, a kind and a version
KEY_BYTES, SIGNATURE_BYTES = 32, 64
KEY_INFO = bytes.fromhex(
    "302a300506032b6570032100"
)  # what stands before a key's bytes in SubjectPublicKeyInfo


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
    """The curve point of 32 bytes; None if they encode none."""
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
    """Whether this is the Ed25519 signature of the message by the key."""
    if len(public_key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    return _is_signature(
        public_key, signature, hashlib.sha512(signature[:32] + public_key + message).digest()
    )


@functools.lru_cache(maxsize=1_000)
def _is_signature(public_key: bytes, signature: bytes, challenge: bytes) -> bool:
    """The same with a cache by the hash of all inputs, so that repeated lines take no time."""
    base, key, first = _point(BASE_Y.to_bytes(32, "little")), _point(public_key), _point(signature[:32])
    number = int.from_bytes(signature[32:], "little")
    if base is None or key is None or first is None or number >= Q:
        return False
    turned = int.from_bytes(challenge, "little") % Q
    return _same(_times(number, base), _added(first, _times(turned, key)))


def fingerprint(public_key: bytes) -> str:
    """`ed25519:` and the SHA-256 of the key as SubjectPublicKeyInfo (RFC 8410), the output of `openssl pkey -pubin -outform DER`."""
    return "ed25519:" + hashlib.sha256(KEY_INFO + public_key).hexdigest()


def pem(public_key: bytes) -> str:
    """The key in the PEM format of OpenSSL."""
    written = base64.b64encode(KEY_INFO + public_key).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{written}\n-----END PUBLIC KEY-----\n"


def is_fingerprint(text: str) -> bool:
    """Whether the text has the form of a fingerprint."""
    return re.fullmatch(r"ed25519:[0-9a-f]{64}", text) is not None


# --- reading ---


def parsed(data: bytes | str) -> Any:
    """Parse an unambiguous JSON document. Raises `ValueError`, `RecursionError`."""
    written = data if isinstance(data, str) else data.decode("utf-8")
    return json.loads(written, object_pairs_hook=_once, parse_constant=_no_number)


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is not JSON")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it has a duplicate name")
    return found


def whole(value: Any) -> int:
    """Check a number or position of records: an integer, not a bool. Raises `ValueError`."""
    if type(value) is not int or not 0 <= value < MOST:
        raise ValueError("this is not a whole number from 0")
    return value


def digits(written: str) -> int:
    """Parse an integer in its only form. Raises `ValueError`."""
    if not NUMBER.fullmatch(written):
        raise ValueError("this is not a whole number from 0")
    return int(written)


def text(value: Any, form: re.Pattern[str] | None = None) -> str:
    """Check a string, optionally against a pattern. Raises `ValueError`."""
    if type(value) is not str or (form and not form.fullmatch(value)):
        raise ValueError("this is not text in the expected form")
    return value


def from_base64(value: Any) -> bytes:
    """Decode canonical base64. Raises `ValueError`."""
    data = base64.b64decode(text(value), validate=True)
    if base64.b64encode(data).decode() != value:
        raise ValueError("it has surplus bits")
    return data


def only(value: Any, *names: str) -> Any:
    """Check an object with exactly these names. Raises `ValueError`."""
    if type(value) is not dict or value.keys() != set(names):
        raise ValueError("it has unexpected or missing names")
    return value


def hashes(value: Any) -> list[bytes]:
    """Parse a list of SHA-256 hashes. Raises `ValueError`."""
    if type(value) is not list:
        raise ValueError("this is not a list")
    return [bytes.fromhex(text(each, SHA256)) for each in value]


class Member(NamedTuple):
    """A file in a ZIP: start and end of its packed bytes, unpacked size, checksum, and whether it is deflated."""

    begin: int
    end: int
    size: int
    checksum: int
    deflated: bool


class Bundle:
    """The files of a bundle, hashed while they are read. Bytes of the ZIP that belong to no file are a problem."""

    def __init__(self, path: str, report: Report) -> None:
        self.report, self.path = report, path
        self.hashes: dict[str, str] = {}
        try:
            with zipfile.ZipFile(path) as found, Path(path).open("rb") as file:
                listed = found.infolist()
                _packed_as_ever(listed, os.fstat(file.fileno()).st_size)
                self.members = Layout(file, report).members(listed, found.start_dir)
        except FileNotFoundError as why:
            raise Unreadable("there is no such file") from why
        except DAMAGE as why:
            raise Unreadable(f"this is not a readable zip file: {why}") from why
        self.names = set(self.members)

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file without line ends; none if it is missing. Damage is reported once."""
        if name not in self.names:
            return
        digest, parts, length = hashlib.sha256(), list[bytes](), 0
        try:
            for chunk in self._chunks(name):
                digest.update(chunk)
                first, *others = chunk.split(b"\n")
                parts.append(first)
                length += len(first)
                if length > LONGEST_LINE:
                    raise Unreadable(f"a line of {name} is longer than {LONGEST_LINE:,} bytes")
                if others:
                    yield b"".join(parts)
                    yield from others[:-1]
                    parts, length = others[-1:], len(others[-1])
        except DAMAGE as why:
            self.report.problem("file", name, f"It is damaged and cannot be read completely: {why}.")
            self.names.discard(name)
            self.hashes[name] = ""
            return
        if length:
            yield b"".join(parts)
        self.hashes[name] = digest.hexdigest()

    def _chunks(self, name: str) -> Iterator[bytes]:
        """The unpacked bytes of a file. Raises one of `DAMAGE`."""
        member, size, checksum = self.members[name], 0, 0
        with Path(self.path).open("rb") as file:
            file.seek(member.begin)
            for chunk in self._inflated(file, name) if member.deflated else _bytes_of(file, member):
                size, checksum = size + len(chunk), zlib.crc32(chunk, checksum)
                if size > member.size:
                    break
                yield chunk
        if (size, checksum) != (member.size, member.checksum):
            raise ValueError("its checksum does not match")

    def _inflated(self, file: IO[bytes], name: str) -> Iterator[bytes]:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        rest = 0
        for packed in _bytes_of(file, self.members[name]):
            if inflate.eof:
                rest += len(packed)
                continue
            yield inflate.decompress(packed, CHUNK)
            while inflate.unconsumed_tail:
                yield inflate.decompress(inflate.unconsumed_tail, CHUNK)
        yield inflate.flush()
        rest += len(inflate.unused_data)
        if not inflate.eof:
            raise ValueError("it is incomplete")
        if rest and name not in self.hashes:
            self.report.problem("zip", name, f"{rest} bytes follow its end, {NOBODY_S}.")

    def hash(self, name: str) -> str | None:
        """The SHA-256 of a file in hex; empty if it is damaged."""
        if name not in self.hashes:
            for _ in self.lines(name):
                pass
        return self.hashes.get(name)

    def content(self, name: str) -> bytes | None:
        """The bytes of a small file; None if it is missing, damaged or large."""
        if not self.hash(name) or self.members[name].size > LARGEST_SMALL_FILE:
            return None
        return b"".join(self._chunks(name))

    def document(self, name: str) -> Any:
        """A JSON document; None if it is missing or not JSON."""
        if name not in self.names or self.members[name].size > LARGEST_SMALL_FILE:
            return None
        try:
            return parsed(b"\n".join(self.lines(name)))
        except WRONG_FORM:
            return None


def _packed_as_ever(members: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Raise `Unreadable` for a ZIP with a compression ratio that the product never produces."""
    if len(members) != len({each.filename for each in members}):
        raise Unreadable("two files in it have the same name")
    if any(each.compress_type not in PACKED for each in members):
        raise Unreadable(
            "a file in it is not compressed with deflate, the only method that Time Machine uses"
        )
    inflated = sum(each.file_size for each in members)
    if inflated > ALLOWED_INFLATED + MOST_INFLATED * size:
        raise Unreadable(
            f"its {size:,} bytes unpack to {inflated:,}, which is an impossible compression ratio"
        )


def _bytes_of(file: IO[bytes], member: Member) -> Iterator[bytes]:
    """The packed bytes of a file; `file` is positioned at their start."""
    left = member.end - member.begin
    while left > 0 and (chunk := file.read(min(left, CHUNK))):
        left -= len(chunk)
        yield chunk


class Layout:
    """Check that the files and the directory cover all bytes of a ZIP and agree with each other."""

    def __init__(self, file: IO[bytes], report: Report) -> None:
        self.file, self.report = file, report

    def members(self, listed: Sequence[zipfile.ZipInfo], directory: int) -> dict[str, Member]:
        """The files by name in the order of the directory at `directory`. Raises one of `DAMAGE`."""
        self.file.seek(directory)
        entries = [self._repeated_fields(each) for each in listed]
        self._ends(len(listed), directory, self.file.tell())
        found, at = {}, 0
        for each, raw in sorted(zip(listed, entries, strict=True), key=lambda pair: pair[0].header_offset):
            self._gap(at, each.header_offset, each.filename)
            begin, at = self._local(each, raw)
            end = begin + each.compress_size
            found[each.filename] = Member(begin, end, each.file_size, each.CRC, bool(each.compress_type))
        self._gap(at, directory, "the directory")
        return {each.filename: found[each.filename] for each in listed}

    def _gap(self, at: int, begin: int, name: str) -> None:
        if begin > at:
            says = f"{begin - at} bytes precede it, {NOBODY_S}."
            self.report.problem("zip", name, says)
        elif begin < at:
            self.report.problem("zip", name, "It begins before another file has ended.")

    def _repeated_fields(self, each: zipfile.ZipInfo) -> tuple[Any, ...]:
        """The fields of the next directory entry that the file's header repeats."""
        entry = CENTRAL.unpack(self.file.read(CENTRAL.size))
        name, extra, comment = (self.file.read(size) for size in entry[10:13])
        values = [entry[8], entry[9], entry[16]].count(IN_64)  # that are too large for their fields
        zip64 = struct.pack("<2H", ZIP_64, 8 * values) if values else b""
        sound = (extra[:4], len(extra)) == (zip64, len(zip64) + 8 * values)
        kind = stat.S_IFMT(entry[15] >> 16)  # a link or a folder would not be unpacked as what was signed
        if (
            name != each.filename.encode()
            or comment
            or not sound
            or entry[13]
            or kind not in {0, stat.S_IFREG}
        ):
            says = f"The directory has extra data about it, {NOBODY_S}."
            self.report.problem("zip", each.filename, says)
        return (*entry[2:7], name)

    def _local(self, each: zipfile.ZipInfo, repeated: tuple[Any, ...]) -> tuple[int, int]:
        """The start of the packed bytes of a file, and the end of the file."""
        self.file.seek(each.header_offset)
        head = LOCAL.unpack(self.file.read(LOCAL.size))
        name, extra = (self.file.read(size) for size in head[9:11])
        begin, sizes = self.file.tell(), (each.CRC, each.compress_size, each.file_size)
        streamed = bool(each.flag_bits & STREAMED)
        expected = (0, 0, 0) if streamed else sizes
        small = (expected[0], IN_64, IN_64) if extra else expected
        large = struct.pack("<2H2Q", ZIP_64, 16, *expected[:0:-1]) if extra else b""
        if (*head[:9], name, extra) != (b"PK\x03\x04", *repeated[:-1], *small, repeated[-1], large):
            says = "Its header does not match the zip directory."
            self.report.problem("zip", each.filename, says)
        end = begin + each.compress_size
        return begin, end + (self._described(end, sizes) if streamed else 0)

    def _described(self, at: int, sizes: tuple[int, int, int]) -> int:
        """The size of the data descriptor after a streamed file."""
        self.file.seek(at)
        written = self.file.read(24)
        for form in ("<4s3L", "<4sL2Q"):
            with suppress(struct.error):
                if written.startswith(made := struct.pack(form, b"PK\x07\x08", *sizes)):
                    return len(made)
        return 0

    def _ends(self, count: int, directory: int, at: int) -> None:
        """Check that only the end record of the ZIP follows the directory."""
        size, end = at - directory, self.file.read(END.size + END_64.size + FIND_64.size + 1)
        few, small = min(count, 0xFFFF), (min(size, IN_64), min(directory, IN_64))
        expected = END.pack(b"PK\x05\x06", 0, 0, few, few, *small, 0)
        if end[:4] == b"PK\x06\x06" and len(end) > END_64.size:
            made, needed = END_64.unpack(end[: END_64.size])[2:4]
            large = (b"PK\x06\x06", END_64.size - 12, made, needed, 0, 0, count, count, size, directory)
            expected = END_64.pack(*large) + FIND_64.pack(b"PK\x06\x07", 0, at, 1) + expected
        if end != expected:
            says = f"It does not end with its directory: there is a comment, or there are bytes {NOBODY_S}."
            self.report.problem("zip", "the end of the zip", says)


def public_keys(found: Any, report: Report) -> dict[str, bytes]:
    """The public keys in the bundle by their computed fingerprints. A wrong fingerprint is a problem."""
    known = {}
    for number, each in enumerate(found if isinstance(found, list) else (), start=1):
        try:
            public = from_base64(each["public_key"])
        except WRONG_FORM:
            continue
        if len(public) != KEY_BYTES:
            continue
        known[fingerprint(public)] = public
        for name, true in (("fingerprint", fingerprint(public)), ("pem", pem(public))):
            if each.get(name, true) != true:
                says = f"Its stated {name} is wrong: its fingerprint is {fingerprint(public)}."
                report.problem("key", f"{KEYS} key {number}", says)
    return known


def opened(
    signed: Any, wanted_type: str, keys: Mapping[str, bytes], report: Report, where: str
) -> tuple[bytes, str] | None:
    """The signed bytes of a DSSE envelope, and the key; None and a problem if the signature is invalid."""
    try:
        payload = from_base64(only(signed, "payload", "payloadType", "signatures")["payload"])
        kind = text(signed["payloadType"])
        (signature,) = signed["signatures"]
        key, raw = text(only(signature, "keyid", "sig")["keyid"]), from_base64(signature["sig"])
        encoded = b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(payload), payload)
    except WRONG_FORM:
        says = "This is not a signed document, or it has unsigned content."
        report.problem("signature", where, says)
        return None
    if kind != wanted_type:
        report.problem(
            "signature", where, f"A document of type {kind!r} is signed here, not {wanted_type!r}."
        )
    elif key not in keys:
        report.problem("signature", where, f"It is signed by the key {key}, which is not in the bundle.")
    elif not is_signature(keys[key], encoded, raw):
        report.problem(
            "signature", where, "The signature is invalid: the signature or what it signs was changed."
        )
        report.forged += 1
        if report.forged >= MOST_FORGED:
            raise TooMuch(f"It stopped after {MOST_FORGED:,} invalid signatures.")
    else:
        report.checked["signatures"] += 1
        report.signers.setdefault(key, where)
        return payload, key
    return None


def parsed_state(data: bytes, where: str) -> State | None:
    """Parse a checkpoint; None if it has another form."""
    try:
        lines = data.decode("ascii").split("\n")
        facts = dict(line.split(" ", 1) for line in lines[3:] if line)
        root = base64.b64decode(lines[2], validate=True)
        last, at, state = facts["last"], text(facts["at"], AT), facts["state"]
        session = {name: facts[name] for name in ("status", "started", "ended") if name in facts}
        return State(where, lines[0], digits(lines[1]), root, last, at, state, **session)
    except WRONG_FORM:
        return None


# --- checking ---


def verify(path: str, wanted_key: str | None = None, older: str | None = None) -> Report:
    """Verify a bundle, and optionally that an older one is its beginning. Raises `Unreadable`."""
    found = _verified(path, wanted_key)
    if older is not None:
        try:
            before = _verified(older, None)
        except Unreadable as why:
            raise Unreadable(f"the older one, {older}, cannot be compared: {why}") from why
        _compare(before, found, path, older)
    return found.report


def _verified(path: str, wanted_key: str | None) -> BundleContent:
    found, helpers = BundleContent(Report(), {}), list[Helper | None]()
    try:
        _read(path, wanted_key, found, helpers)
    except Unreadable:
        raise
    except TooMuch as why:
        found.report.stopped = str(why)
    # Whatever was done to a file: what ends the check is a fault, and never a traceback.
    except Exception as why:  # noqa: BLE001
        says = f"The check cannot read part of it ({type(why).__name__}); the rest was not read."
        found.report.problem("malformed", path, says)
    finally:
        for helper in helpers:
            if helper:
                helper.end()
    return found


def _read(path: str, wanted_key: str | None, found: BundleContent, helpers: list[Helper | None]) -> None:
    report, trees = found
    bundle = Bundle(path, report)
    keys = public_keys(bundle.document(KEYS), report)
    stated = _statement(bundle, keys, report, wanted_key)
    report.logs = sorted({tree.log for tree in stated.trees} | ({stated.log.origin} if stated.log else set()))
    if len(report.logs) > 1:
        report.problem("statement", STATEMENT, "Its content belongs to two projects.")
    helpers += [_helped(bundle, tree) for tree in stated.trees]
    payloads = _payloads(bundle, report)
    records: dict[str, dict[int, Sealed]] = {}
    if stated.log:
        entries = dict(enumerate(_whole_log(bundle, stated.log, keys, report)))
        at = report.shown[-1].sealed_at if report.shown else ""
        trees[stated.log.origin] = Leaves(
            entries, stated.log.size, stated.log.root, complete=True, name="log entry", at=at
        )
    for tree, helper in zip(stated.trees, helpers, strict=True):
        lines = _records(bundle, tree, report)
        records[tree.path] = lines.found
        _left_out(tree, records[tree.path], report, is_subject=tree is stated.trees[0] and not stated.log)
        last = _states(bundle, tree, lines, keys, report)
        undisclosed, unfit = _disclosed(bundle, tree.path, records[tree.path], payloads, helper, report)
        tombstones = _tombstones(bundle, tree, keys, report)
        erased, withheld, wrong = _count_undisclosed(
            tree, records[tree.path], (undisclosed, unfit), tombstones, report
        )
        if last:
            more, counted = last.state != "closed", len(records[tree.path])
            numbers = *erased, withheld, wrong
            report.shown.append(
                Shown(
                    tree.of,
                    tree.id,
                    counted,
                    last.size,
                    last.at,
                    more,
                    *numbers,
                    last.key,
                    not tree.complete or tree.withholds,
                )
            )
        run = _earlier(bundle, tree, last, keys, report)
        leaves = {index: each.leaf for index, each in records[tree.path].items()}
        sealed = {index: each.fields for index, each in records[tree.path].items()}
        disclosure = Disclosure(
            sealed, undisclosed, unfit, tombstones, tree.withholds, tree.erased is not None
        )
        name, at = f"{tree.path} record", last.at if last else ""
        trees[tree.origin] = Leaves(leaves, tree.size, tree.root, tree.complete, name, at, disclosure, run)
    _replacements(bundle, stated, keys, report)
    _signers(report)
    _timestamps(bundle, _log_states(bundle, stated), report)
    _links(bundle, stated.trees, records, trees, report)
    for tree in stated.trees:
        if 0 in records[tree.path] and f'"{CONTINUES}":'.encode() in records[tree.path][0].fields:
            _continuation(bundle, tree, records[tree.path], trees[tree.origin].disclosure, report)
    _files(bundle, stated.files, report)


def _compare(older: BundleContent, newer: BundleContent, path: str, older_path: str) -> None:
    """Check that every tree in both bundles begins in the newer one as it was in the older one. Raises `Unreadable` if they have
    different subjects, or the older one is later.
    """
    report, same = newer.report, [origin for origin in newer.trees if origin in older.trees]
    if report.logs == [report.subject] == older.report.logs and older.report.subject != report.subject:
        _compare_with_log(older, newer, path, older_path)
        return
    runs = _runs(older, newer, path, older_path)
    if runs is None and older.report.subject != report.subject and report.logs == [older.report.subject]:
        raise Unreadable(
            f"{older_path}, which was given with --older, is the log that contains it: give the log first and {path} with --older"
        )
    if runs is None and older.report.subject != report.subject:
        raise Unreadable(
            f"it is of {report.subject}, and {older_path}, which was given with --older, of {older.report.subject}: "
            f"compare two bundles of the same subject"
        )
    if runs is not None:
        in_log = _in_its_log(older.trees[older.report.subject or ""], runs, report)
        _compare_trees(older, newer, same, (path, older_path), (in_log, _why_anew(*runs)))
        return
    if report.subject not in same:
        report.not_checked.append(
            "Whether the older one is its beginning: one of the two was not read completely."
        )
        report.older = Begin(older.report.subject, older.report.key, None)
        return
    before, now = older.trees[report.subject], newer.trees[report.subject]
    if before.size > now.size and _moment(before.at) > _moment(now.at):
        raise Unreadable(
            f"it was signed at {now.at} with {now.size:,}, and {older_path}, which was given with --older, later, at {before.at}, "
            f"with {before.size:,}: swap the two. If {path} was made after {older_path}, its subject was reset "
            f"to an earlier state."
        )
    _compare_trees(older, newer, same, (path, older_path))


def _compare_trees(
    older: BundleContent,
    newer: BundleContent,
    same: Sequence[str],
    paths: tuple[str, str],
    anew: tuple[bool | None, str | None] = (True, None),
) -> None:
    """Compare each tree that is in both; `anew` is the result for a subject of another run, with the reason."""
    report = newer.report
    for origin in same:
        _made_before(older.trees[origin], newer.trees[origin], *paths, report)
        report.missing += _no_longer_disclosed(older.trees[origin], newer.trees[origin])
    _of_the_older(older.report, report)
    held = [anew[0], *(_begins(older.trees[origin], newer.trees[origin], report) for origin in same)]
    holds = False if False in held or older.report.problems else None if None in held else True
    report.older = Begin(older.report.subject, older.report.key, holds, anew[1])


def _of_the_older(older: Report, report: Report) -> None:
    """The problems of the older bundle, and its key."""
    for each in older.problems:
        report.problem(each["code"], f"older bundle: {each['where']}", each["says"])
    if older.key not in {None, report.key}:
        says = f"Whose key signed the older bundle: compare {older.key} with the fingerprint that you received then."
        report.not_checked.append(says)


def _compare_with_log(older: BundleContent, newer: BundleContent, path: str, older_path: str) -> None:
    """Whether the seals of the older bundle are in the log of the newer one. Raises `Unreadable` if they are later than the log."""
    report, log = newer.report, newer.trees.get(newer.report.subject or "")
    _of_the_older(older.report, report)
    entered = older.report.entered if log else ()
    made = roots(list(log.found.values()) if log else [], [each.state.size for each in entered])
    held = [_stands(each, log, made, (path, older_path), report) for each in entered if log]
    holds = False if False in held else None if None in held or not held or older.report.failed else True
    if holds is None:
        says = "Whether this one contains everything that the older one shows of the log: it was only partly compared."
        report.not_checked.append(says)
    report.older = Begin(older.report.subject, older.report.key, holds, in_log=True)


def _stands(
    each: Entered, log: Leaves, made: Mapping[int, bytes], paths: tuple[str, str], report: Report
) -> bool | None:
    """Whether a seal and its signed state are in this log; None if the state is larger than the log."""
    here = log.found.get(each.entry)
    if here is None and _moment(each.state.at) > _moment(log.at):
        raise Unreadable(
            f"it was signed at {log.at} with {log.size:,} entries, and {paths[1]}, which was given with --older, shows entry {each.entry:,}, at "
            f"{each.state.at}: request the log again. If {paths[0]} was made after {paths[1]}, the log was reset to an earlier state."
        )
    if here != each.leaf:
        there = "nothing" if here is None else "something else"
        says = f"The older bundle shows the seal of the {each.where} there, and this log has {there}."
        report.problem("rewritten", f"log entry {each.entry}", says)
        return False
    if each.state.size in made and made[each.state.size] != each.state.root:
        says = f"One of the first {each.state.size} differs from when they were signed, according to the older bundle."
        report.problem("rewritten", f"log entry {each.state.size - 1}", says)
        return False
    report.checked["compared"] += 1
    return True if each.state.size in made else None


def _runs(older: BundleContent, newer: BundleContent, path: str, older_path: str) -> tuple[Run, Run] | None:
    """The subjects of both bundles if they are runs of the same replay or comparison. Raises `Unreadable` if the older bundle has the later run."""
    before, now = (found.trees.get(found.report.subject or "") for found in (older, newer))
    if before is None or now is None or before.run is None or now.run is None:
        return None
    if before.run[:3] != now.run[:3] or before.run.generation == now.run.generation:
        return None
    if before.run.generation > now.run.generation:
        raise Unreadable(
            f"it is of run {now.run.generation} of the {now.run.of} {now.run.id}, and {older_path}, which was given with --older, of run "
            f"{before.run.generation}, which came after it: swap the two. If {path} was made after {older_path}, it was reset."
        )
    return before.run, now.run


def _why_anew(before: Run, now: Run) -> str:
    """Why the newer bundle has another run than the older one."""
    name = f"{now.of} {now.id}"
    found = [each for each in now.earlier if each.generation == before.generation]
    entry = now.anew.get(before.generation, found[0].log_entry if found else None)
    if entry is not None:
        return f"{name} was resealed after an erasure, as run {now.generation}, by log entry {entry}"
    why = "ran again" if found else "ran again or was resealed, which this one does not report"
    return f"{name} {why}: this is run {now.generation}, and the older one is of run {before.generation}"


def _in_its_log(older: Leaves, runs: tuple[Run, Run], report: Report) -> bool | None:
    """Whether the log of the newer bundle contains the seal of the older one's earlier run; None if the newer one does not include it."""
    before, now = runs
    report.not_checked.append(
        f"Which records of run {before.generation} still exist: run {now.generation} was sealed with other salts, so they cannot be compared one by one."
    )
    where = f"{now.of} log entry {'' if before.entry is None else before.entry}".rstrip()
    known = now.states.get((before.generation, older.size), ())
    if (before.entry, older.root) in known:
        report.checked["proofs"] += 1
        return True
    if before.entry is not None and any(entry == before.entry or root != older.root for entry, root in known):
        says = f"The older one shows it with {older.size} records under the root {older.root}, and the log of this one has something else."
        report.problem("rewritten", where, says)
        return False
    if before.entry is None or now.withholds or not now.earlier:
        says = f"Whether the older one's seal is in the log of this one: it does not show {'all of ' if now.earlier else ''}the earlier seals."
        report.not_checked.append(says)
        return None
    says = f"It is missing: the older one shows there its seal of {older.size} records, and this one, which shows every earlier seal, does not have it."
    report.problem("rewritten", where, says)
    return False


def _moment(at: str) -> tuple[str, str]:
    """A sortable form of an RFC 3339 time in UTC."""
    return at[:19], at[19:].rstrip("Z")


def _made_before(older: Leaves, newer: Leaves, path: str, older_path: str, report: Report) -> None:
    """Check that the older bundle is older. Raises `Unreadable` if the newer one contains what had been erased by then."""
    count = 0
    for index, names in older.disclosure.undisclosed.items():
        if index not in newer.disclosure.sealed:
            continue
        here = (
            names - newer.disclosure.undisclosed.get(index, set()) - newer.disclosure.unfit.get(index, set())
        )
        if back := sorted(name for name in here if (index, name) in older.disclosure.erased):
            raise Unreadable(
                f"it discloses {newer.name} {index} {back[0]}, which was erased permanently according to the log of {older_path}, which was given with "
                f"--older: swap the two. If {path} was made after {older_path}, what was erased is back."
            )
        count += len(here)
    if count:
        report.not_checked.append(
            f"Why the older one discloses less: only this one discloses {_fields(count)} of its {newer.name}s."
        )
    if older.at and _moment(older.at) > _moment(newer.at):
        report.not_checked.append(
            f"Whether they are in this order: the older one's {newer.name}s were signed at {older.at}, later than these, at {newer.at}."
        )


def _no_longer_disclosed(older: Leaves, newer: Leaves) -> Iterator[tuple[str, str]]:
    """The fields that only the older bundle discloses of records in both, with the reason."""
    before, now = older.disclosure, newer.disclosure
    left = "withheld or erased" if now.stated else "withheld"
    for index, names in now.undisclosed.items():
        if index in before.sealed:
            sealed = {name.decode() for name, _ in PAIR.findall(before.sealed[index])}
            disclosed = sealed - before.undisclosed.get(index, set()) - before.unfit.get(index, set())
            for name in sorted(disclosed & names):
                if (index, name) in now.erased:
                    yield f"{newer.name} {index} {name}", "erased"
                elif now.withholds:  # else it is a fault, and reported as one
                    yield f"{newer.name} {index} {name}", left


def _begins(older: Leaves, newer: Leaves, report: Report) -> bool | None:
    """Whether a tree is the beginning of another one (RFC 6962); None if the bundles contain too little to decide."""
    both = [index for index in sorted(older.found) if index in newer.found]
    for index in both:
        if older.found[index] != newer.found[index]:
            report.problem(
                "rewritten", f"{newer.name} {index}", "It differs from the one in the older bundle."
            )
            return False
    if newer.complete and older.size > newer.size and newer.disclosure.withholds:  # a link may show a part
        report.checked["compared"] += len(both)
        says = f"What came after {newer.name} {newer.size - 1}: this one shows only the first {newer.size}, and the older one continues to {older.size}."
        report.not_checked.append(says)
        return None
    if newer.complete and older.size > newer.size:
        says = f"It is missing: the older bundle continues to {older.size}. Records were removed, or the two files were swapped."
        report.problem("rewritten", f"{newer.name} {newer.size}", says)
        return False
    report.checked["compared"] += len(both)
    most, other = (newer, older) if newer.complete else (older, newer)
    begin = range(other.size if other.size <= len(most.found) else 0)  # the stated size can be any number
    made = roots([most.found.get(index, b"") for index in begin], [other.size])
    same = other.size in made and made[other.size].hex() == other.root
    same = same or (older.size, older.root) == (newer.size, newer.root)
    if most.complete and other.size <= most.size and not same:
        says = f"One of the {other.size} before it differs from when they were signed."
        report.problem("rewritten", f"{newer.name} {other.size}", says)
        return False
    if not same or older.size > newer.size:
        says = f"Each {newer.name} that is not in both bundles: {len(both)} of {older.size} were compared."
        report.not_checked.append(says)
    return True if same and older.size <= newer.size else None


def _statement(bundle: Bundle, keys: Mapping[str, bytes], report: Report, wanted_key: str | None) -> Stated:
    """Read the statement of a bundle."""
    signed = bundle.document(STATEMENT)
    if signed is None:
        raise Unreadable(f"there is no readable {STATEMENT} in it, so this is not an evidence bundle")
    found = opened(signed, STATEMENT_TYPE, keys, report, STATEMENT)
    _signed_by(found[1] if found else None, wanted_key, keys, report)
    try:
        stated = parsed(found[0] if found else base64.b64decode(signed["payload"]))
        subject, predicate = stated["subject"][0], stated["predicate"]
        trees = [_tree_of(each) for each in predicate["trees"]]
        log = _log_of(predicate["log"]) if "log" in predicate else None
        first = log or trees[0]
        form, root = predicate["format"], subject["digest"]["sha256"]
        files = {name: text(digest, SHA256) for name, digest in predicate["files"].items()}
        trees = [
            each._replace(about=_about(predicate, each)) if each.of == SESSION else each for each in trees
        ]
        if len({tree.path for tree in trees} | ({log.path} if log else set())) != len(trees) + bool(log):
            raise ValueError("two trees are in the same folder")
        report.subject = text(subject["name"])
        wrong = root != first.root or report.subject != first.origin
    except WRONG_FORM as why:
        raise Unreadable("its statement does not have the form that this program expects") from why
    if form != FORMAT:
        raise Unreadable(f"its format is {form!r}, and this program knows {FORMAT!r}")
    if wrong:
        report.problem("statement", STATEMENT, "Its subject is not its first tree.")
    return Stated(trees, log, files)


def _signed_by(key: str | None, wanted_key: str | None, keys: Mapping[str, bytes], report: Report) -> None:
    """Compare the key that signed the statement with the one of the command line."""
    report.key, report.is_key_known = key, key is not None and key == wanted_key
    if key and wanted_key is None:
        says = (
            f"Whose key signed it: anyone can sign a bundle with a key of their own. Compare {key} with a fingerprint that you received "
            "from another source, or give that fingerprint with --key."
        )
        report.not_checked.append(says)
    elif key and key != wanted_key:
        says = f"It is signed by the key {key}, not by {wanted_key}."
        report.problem("key", STATEMENT, f"{says} {OTHER_KEY}" if wanted_key in keys else says)


def _tree_of(stated: Mapping[str, Any]) -> Tree:
    """Read a tree of the statement; an older server does not state whether it withholds fields."""
    complete, withholds = stated["complete"], stated.get("withholds", True)
    if type(complete) is not bool or type(withholds) is not bool:
        raise ValueError("this is not true or false")
    origin, of, id_ = text(stated["origin"]), text(stated["of"], KIND), text(stated["id"], ID)
    named = ORIGIN.fullmatch(origin)
    if named is None or (named[2], named[3]) != (of, id_):
        raise ValueError("its origin is something else")
    return Tree(
        path=text(stated["path"], FOLDER),
        of=of,
        id=id_,
        origin=origin,
        log=f"{named[1]}/log",
        generation=int(named[4] or 1),
        size=whole(stated["size"]),
        root=text(stated["root"], SHA256),
        complete=complete,
        withholds=withholds,
        erased=_erasure_count(stated["erased"]) if "erased" in stated else None,
        earlier=[_earlier_of(each, of, id_) for each in stated.get("earlier", ())],
    )


def _earlier_of(stated: Mapping[str, Any], of: str, id_: str) -> Earlier:
    """Read an earlier seal of the statement."""
    at, entry = stated["replaced_at"], stated["log_entry"]
    return Earlier(
        of,
        id_,
        whole(stated["generation"]),
        whole(stated["size"]),
        text(stated["root"], SHA256),
        text(stated["sealed_at"], AT),
        text(stated["because"], BECAUSE),
        None if at is None else text(at, AT),
        None if entry is None else whole(entry),
    )


def _about(predicate: Mapping[str, Any], tree: Tree) -> Mapping[str, Any]:
    """What the statement says about the session of a tree; a statement about one session may leave out its id."""
    about = predicate.get("about", {})
    listed = [about[SESSION]] if SESSION in about else about.get("sessions", [])
    if any(type(each) is not dict for each in listed):
        raise ValueError("this is not about a session")
    alone = tree.id if SESSION in about else None
    return next((each for each in listed if each.get("id", alone) == tree.id), {})


def _erasure_count(stated: Any) -> ErasureCount:
    return ErasureCount(whole(stated["fields"]), text(stated["last"], AT))


def _log_of(stated: Mapping[str, Any]) -> Log:
    """Read the project's log of the statement."""
    return Log(
        path=text(stated["path"], FOLDER),
        origin=text(stated["origin"]),
        size=whole(stated["size"]),
        root=text(stated["root"], SHA256),
    )


def _files(bundle: Bundle, stated: Mapping[str, str], report: Report) -> None:
    """Check that the files are exactly those that were signed."""
    here = set(bundle.members) - {STATEMENT}
    for name in sorted(here | set(stated)):
        if not FILE_NAME.fullmatch(name):
            report.problem(
                "file",
                name,
                "Time Machine never writes a file with this name: it could be unpacked outside the folder.",
            )
        elif name not in here:
            report.problem("file", name, "The statement names this file, but it is not in the bundle.")
        elif name not in stated:
            report.problem("file", name, "The statement does not name this file: it was added.")
        elif (found := bundle.hash(name)) != stated[name]:
            if found:
                report.problem("file", name, "The file is not the one that was signed: it was changed.")
        else:
            report.checked["files"] += 1


def _payloads(bundle: Bundle, report: Report) -> dict[str, bytes]:
    """The computed hash of every payload by its stated hash."""
    known = {}
    for number, line in enumerate(bundle.lines(PAYLOADS), start=1):
        try:
            found = parsed(line)
            data = base64.b64decode(found["base64"]) if "base64" in found else found["text"].encode()
            claimed, digest = text(found["sha256"], SHA256), sha256(data)
        except WRONG_FORM:
            report.problem("payload", f"{PAYLOADS} line {number}", "This line is not a payload.")
            continue
        known[claimed] = digest
        if digest.hex() != claimed:
            report.problem(
                "payload", f"payload {claimed}", f"Its bytes were changed: they hash to {digest.hex()}."
            )
    return known


class Line(NamedTuple):
    """A line that names another predecessor than the line before it: that hash, and its own leaf hash with the correct predecessor."""

    prev: bytes
    leaf: bytes


class Lines(NamedTuple):
    """The records of a tree by index, those with another predecessor than the line before, and those damaged or missing."""

    found: dict[int, Sealed]
    unlinked: dict[int, Line]
    damaged: set[int]


def _records(bundle: Bundle, tree: Tree, report: Report) -> Lines:
    """Read the records of a tree by index; each must have the form of an envelope, belong to this tree, and follow its predecessor."""
    found, sha = dict[int, Sealed](), hashlib.sha256
    whose, orders = (tree.id.encode(), tree.of.encode()), set[tuple[bytes, ...]]()
    unlinked, order, doubles = dict[int, Line](), list[int](), dict[int, Sealed]()
    previous = NO_RECORD.encode()
    for line in bundle.lines(f"{tree.path}/records.jsonl"):
        match = ENVELOPE.fullmatch(line)
        if match is None or not _in_order(match[2], orders):
            order.append(-1)
            continue
        _, fields, id_, written_index, kind, links, of, prev = match.groups()
        index, leaf = int(written_index), sha(b"\x00" + line)
        if (id_, of) != whose:
            says = f"It is a record of the {of.decode()} {id_.decode()}, not of this {tree.of}."
            report.problem("record", f"{tree.path} record {index}", says)
        if prev != previous:
            begin = match.start(8)
            corrected = sha(b"\x00" + line[:begin] + previous + line[begin + len(prev) :]).hexdigest()
            unlinked[index] = Line(prev, corrected.encode())
        record = Sealed(leaf.digest(), fields, links or b"", kind)
        if found.setdefault(index, record) is not record:
            doubles[len(order)] = record
        order.append(index)
        previous = leaf.hexdigest().encode()
    return _placed(tree, Lines(found, unlinked, set()), order, doubles, report)


def _placed(
    tree: Tree, lines: Lines, order: Sequence[int], doubles: Mapping[int, Sealed], report: Report
) -> Lines:
    """Return the records that are in order, and report the others; another line has the index of each of the `doubles`."""
    ordered, found = _longest_ordered_run(order), lines.found
    found.update((order[at], record) for at, record in doubles.items() if at in ordered)
    damaged = _misplaced(tree, order, ordered, report)
    elsewhere = {*found}.difference(order[at] for at in ordered) if damaged else ()
    for index in [each for each in elsewhere if each >= tree.size]:
        del found[index]  # a record that claims the place of another one
    if tree.complete:
        damaged |= _gaps(tree, damaged.union(found), report)
    report.checked["records"] += len(found)
    return lines._replace(damaged=damaged)


def _longest_ordered_run(order: Sequence[int]) -> set[int]:
    """The longest run of lines in order, so that the fewest count as misplaced; of two swapped neighbours, the first one."""
    if all(a < b for a, b in itertools.pairwise((-1, *order))):
        return set(range(len(order)))
    ends, places, behind = list[int](), list[int](), dict[int, int]()
    for at in reversed(range(len(order))):
        if order[at] >= 0:
            height = bisect.bisect_left(ends, -order[at])
            behind[at] = places[height - 1] if height else -1
            ends[height : height + 1], places[height : height + 1] = [-order[at]], [at]
    ordered, at = set[int](), places[-1] if places else -1
    while at >= 0:
        ordered.add(at)
        at = behind[at]
    return ordered


def _in_order(pairs: bytes, known: set[tuple[bytes, ...]]) -> bool:
    """Whether the names of an object are sorted and unique; `known` are orders already checked."""
    names = tuple(pairs.split(b'"')[1::4])
    if names not in known:
        if any(a >= b for a, b in itertools.pairwise(names)):
            return False
        known.add(names)
    return True


def _misplaced(tree: Tree, order: Sequence[int], ordered: set[int], report: Report) -> set[int]:
    """Report lines that are not records (-1) or out of order; damaged ones are given."""
    there, placed = set(order), {order[at] for at in ordered}
    damaged, before = set[int](), -1
    for at, index in enumerate(order):
        line, where = f"Line {at + 1} of its records", f"{tree.path} record {index}"
        if at in ordered:
            before = index
            continue
        lost = before + 1 not in there and before + 1 < tree.size
        if lost and (index < 0 or index in placed or index >= tree.size):
            before += 1
            damaged.add(before)
        if index >= 0 and before in damaged:
            says = f"It was changed: {line.lower()} replaces it and claims to be record {index}."
            report.problem("record", f"{tree.path} record {before}", says)
        elif index < 0:
            where = f"{tree.path} record {before}" if before in damaged else f"{tree.path} line {at + 1}"
            report.problem(
                "record", where, f"{line} does not have the form of a sealed record: it was changed or added."
            )
        elif index in placed:
            damaged.add(index)
            report.problem("order", where, f"{line} repeats it: it was duplicated.")
        else:
            report.problem("order", where, f"It follows record {before}: it was moved.")
    return damaged


def _gaps(tree: Tree, there: set[int], report: Report) -> set[int]:
    """Report the first record of each gap, and return the gaps; missing records at the end are reported with the state of the tree."""
    gaps = set()
    for before, index in itertools.pairwise((-1, *sorted(there))):
        if before + 1 < min(index, tree.size):
            gaps.add(before + 1)
            missing = index - before - 1
            many = f"It is missing, the first of {missing:,}" if missing > 1 else "It is missing"
            says = f"{many}: the next one is record {index}."
            report.problem("missing", f"{tree.path} record {before + 1}", says)
    return gaps


def _chained(tree: Tree, lines: Lines, last: State | None, report: Report) -> set[int]:
    """Report each record whose successor was sealed after another one, or whose stated predecessor contradicts its successor."""
    changed, ends = set[int](), last.last.encode() if last else b""
    for index, line in sorted(lines.unlinked.items()):
        before = lines.found.get(index - 1)
        if index and (before is None or before.leaf.hex().encode() == line.prev):
            continue
        after = lines.unlinked.get(index + 1)
        if index == 0 or line.leaf == (after.prev if after else ends):
            changed.add(index)
            says = "It was changed: it does not name the record that preceded it when it was sealed."
            report.problem("chain", f"{tree.path} record {index}", says)
        elif index - 1 not in lines.damaged:
            changed.add(index - 1)
            says = f"It was changed: record {index} was sealed after a different record."
            report.problem("chain", f"{tree.path} record {index - 1}", says)
    return changed


def _states(
    bundle: Bundle, tree: Tree, lines: Lines, keys: Mapping[str, bytes], report: Report
) -> State | None:
    """Compare the records with every signed checkpoint of their tree, and the last one with the statement and the log. Returns the last one."""
    stated = []
    for number, line in enumerate(bundle.lines(f"{tree.path}/checkpoints.jsonl"), start=1):
        found = _state(line, f"{tree.path} checkpoint {number}", keys, report)
        if found is not None and found.origin != tree.origin:
            report.problem("checkpoint", found.where, f"It belongs to {found.origin}, not to {tree.origin}.")
        elif found is not None:
            stated.append(found)
    last = max(stated, key=lambda state: state.size, default=None)
    damaged = lines.damaged | (_chained(tree, lines, last, report) if tree.complete else set())
    if last is None:
        report.problem(
            "checkpoint", f"{tree.path} checkpoints", "There is no valid signed checkpoint of these records."
        )
        return None
    if (last.size, last.root.hex()) != (tree.size, tree.root):
        report.problem("checkpoint", last.where, "It is not the checkpoint that the statement names.")
    _stated_values(tree, stated, report)
    if tree.complete:
        _whole(tree, stated, last, lines.found, damaged, report)
    else:
        _paths(bundle, tree, last, lines.found, report)
    _log(bundle, tree, last, keys, report)
    return last


def _stated_values(tree: Tree, states: Sequence[State], report: Report) -> None:
    """Compare the status, start and end of a session in the statement with its signed states."""
    ended = [each for each in states if each.has_ended]
    status = tree.about.get("status", ENDED)
    if ended and status != ENDED:
        says = f"It says that the session's status is {status}. It must be {ENDED}, as sealed in {ended[-1].where}."
        report.problem("status", STATEMENT, says)
    signed = [("started", each.started, each.where) for each in states[-1:]]
    signed += [("ended", each.ended, each.where) for each in ended[-1:]]
    for name, at, where in signed:
        here = tree.about.get(f"{name}_at", at) or UNKNOWN
        moved = (  # after the part that is shown
            name == "ended" and not tree.complete and isinstance(here, str) and not _is_before(here, at)
        )
        if at and here != at and not moved:
            says = f"It says that the session {name} at {here}. It must be {at}, as sealed in {where}."
            report.problem("time", STATEMENT, says)
    for before, after in itertools.pairwise(states):
        _goes_on(before, after, report)


def _goes_on(before: State, after: State, report: Report) -> None:
    """Check that the later of two states of a session can follow the earlier one."""
    if before.has_ended and after.status not in {"", ENDED}:
        says = (
            f"It says that the session's status is {after.status}, but {before.where} says that it had ended."
        )
        report.problem("status", after.where, says)
    if before.started and after.started not in {"", before.started}:
        says = (
            f"It says that the session started at {after.started}, but {before.where} says {before.started}."
        )
        report.problem("time", after.where, says)
    if before.ended not in {"", UNKNOWN} and after.ended and _is_before(after.ended, before.ended):
        says = f"It says that the session ended at {after.ended}, but {before.where} says {before.ended}. An end only moves to a later time."
        report.problem("time", after.where, says)


def _is_before(at: str, other: str) -> bool:
    return at == UNKNOWN or (other != UNKNOWN and _moment(at) < _moment(other))


def _left_out(tree: Tree, records: Mapping[int, Sealed], report: Report, *, is_subject: bool) -> None:
    """Report missing records of a tree that the statement calls incomplete. The subject needs all its records, unless the bundle may withhold
    some of a comparison, which are then not checked. For repeated sessions, the links determine which records are needed.
    """
    there = (
        tree.size if tree.complete else len(records)
    )  # missing records of a complete tree are reported with its state
    if there < LEAST or (not tree.complete and 0 not in records):
        says = f"It has no content from the {tree.of}: record 0 and at least one more record are needed."
        report.problem("missing", f"{tree.path} records", says)
    if tree.complete or not is_subject:
        return
    left = _ranges(records, tree.size)
    if not tree.withholds or tree.of != IN_PART:
        says = f"It is evidence of this {tree.of}, but leaves out records: {left}."
        report.problem("missing", f"{tree.path} records", says)
    else:
        report.not_checked.append(f"The records of the {tree.of} {tree.id} that are not shown: {left}.")


def _ranges(records: Iterable[int], size: int) -> str:
    """Which of the first `size` records are missing, as text of limited length."""
    found, begin = list[str](), 0
    for index in (*sorted(records), size):
        if begin < index <= size:
            found.append(str(begin) if begin == index - 1 else f"{begin}–{index - 1}")
        begin = index + 1
    more = [f"and {len(found) - MOST_RANGES:,} more ranges"] if len(found) > MOST_RANGES else []
    return ", ".join([*found[:MOST_RANGES], *more]) or "none, but it claims to be partial"


def _state(line: bytes, where: str, keys: Mapping[str, bytes], report: Report) -> State | None:
    try:
        signed = parsed(line)
    except WRONG_FORM:
        signed = None
    found = opened(signed, CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(found[0], where) if found else None
    if found and state is None:
        report.problem("checkpoint", where, "The signed document does not have the form of a checkpoint.")
    return state._replace(key=found[1]) if found and state else None


def _whole(
    tree: Tree,
    stated: Sequence[State],
    last: State,
    records: Mapping[int, Sealed],
    damaged: set[int],
    report: Report,
) -> None:
    """With all records: compute the tree at the size of each checkpoint, up to the first damaged record."""
    end = max(damaged.union(records), default=-1) + 1
    if end < last.size:
        says = f"It is missing: the records end before it, but the signed checkpoint counts {last.size}."
        report.problem("missing", f"{tree.path} record {end}", says)
    elif end > last.size:
        added = min(index for index in damaged.union(records) if index >= last.size)
        says = f"It was added: the signed checkpoint counts {last.size} records."
        report.problem("added", f"{tree.path} record {added}", says)
    in_order = [records[index].leaf for index in range(min(damaged, default=end))]
    made = roots(in_order, [state.size for state in stated])
    for state in stated:
        if made.get(state.size) == state.root:
            report.checked["proofs"] += 1
        elif 0 < state.size in made and in_order[state.size - 1].hex() != state.last:
            says = (
                f"It was changed: the signed checkpoint of {state.size} records ends with a different record."
            )
            report.problem("chain", f"{tree.path} record {state.size - 1}", says)
        elif state.size in made:
            says = f"The tree over the records does not have the root that was signed for {state.size}."
            report.problem("root", state.where, says)


def _paths(bundle: Bundle, tree: Tree, last: State, records: Mapping[int, Sealed], report: Report) -> None:
    """With some records: check each one's audit path in the tree."""
    shown = set()
    for number, line in enumerate(bundle.lines(f"{tree.path}/proofs.jsonl"), start=1):
        try:
            found = parsed(line)
            index, steps = whole(found["index"]), hashes(found["path"])
        except WRONG_FORM:
            report.problem("proof", f"{tree.path} proofs line {number}", "This line is not a proof.")
            continue
        shown.add(index)
        where = f"{tree.path} record {index}"
        if index not in records:
            report.problem("missing", where, "There is a proof of this record, but the record is missing.")
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
    """Check that the checkpoint is in the project's log."""
    found, where = bundle.document(f"{tree.path}/log.json"), f"{tree.path} log entry"
    if found is None:
        report.problem("log", where, "Nothing shows that this seal was entered in the project's log.")
        return
    try:
        line, index, steps = found["entry"].encode(), whole(found["index"]), hashes(found["path"])
        signed, entry = found["checkpoint"], parsed(line)
        about = (entry["of"], entry["id"], entry["generation"], entry["size"], entry["root"])
    except WRONG_FORM:
        report.problem("log", where, "This is not a log entry.")
        return
    signature = opened(signed, CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(signature[0], where) if signature else None
    if state is None:
        return
    if about != (tree.of, tree.id, tree.generation, last.size, last.root.hex()):
        report.problem("log", where, "The entry is about something else.")
    elif state.origin != tree.log:
        report.problem("log", where, f"It is in {state.origin}, not in {tree.log}.")
    elif root_by_path(leaf_hash(line), index, state.size, steps) != state.root:
        report.problem("log", where, "The entry is not in the log that was signed.")
    else:
        report.checked["proofs"] += 1
        report.entered.append(Entered(f"{tree.of} {tree.id}", index, leaf_hash(line), state))


def _tombstones(
    bundle: Bundle, tree: Tree, keys: Mapping[str, bytes], report: Report
) -> dict[Field, str | None]:
    """The erased fields according to the project's log, by record and name, with the time."""
    found, where = bundle.document(f"{tree.path}/erased.json"), f"{tree.path} tombstones"
    named: dict[Field, str | None] = {}
    if not isinstance(found, dict):
        return named
    entries = found.get("entries")
    signature = opened(found.get("checkpoint"), CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(signature[0], where) if signature else None
    if state and state.origin != tree.log:
        report.problem("tombstone", where, f"They are in {state.origin}, not in {tree.log}.")
        return named
    for each in entries if state and isinstance(entries, list) else ():
        try:
            line, index = each["entry"].encode(), whole(each["index"])
            steps, tombstone = hashes(each["path"]), tombstone_of(index, parsed(line))
        except WRONG_FORM:
            report.problem("tombstone", where, "This is not a log entry.")
            continue
        if (tombstone.of, tombstone.id) != (tree.of, tree.id) or tombstone.records is None:
            report.problem("tombstone", f"{where} {index}", "The entry is about something else.")
        elif state is None or root_by_path(leaf_hash(line), index, state.size, steps) != state.root:
            report.problem("tombstone", f"{where} {index}", "The entry is not in the log that was signed.")
        else:
            report.checked["proofs"] += 1
            if tombstone.generation == tree.generation:  # of another run it excuses nothing
                report.erasures.append(tombstone)
                fields = [(record, name) for record, names in tombstone.records for name in names]
                named |= dict.fromkeys(fields, tombstone.at)
    return named


def _earlier(
    bundle: Bundle, tree: Tree, last: State | None, keys: Mapping[str, bytes], report: Report
) -> Run:
    """The seals in the log of the tree's run and earlier ones. Those in the statement must be there."""
    states: dict[tuple[int, int], list[tuple[int, str]]] = {}
    anew: dict[int, int] = {}
    for index, entry in _entries_in_log(bundle, tree, keys, report) if tree.earlier else ():
        try:
            _earlier_entry(tree, index, entry, states, anew, report)
        except WRONG_FORM:
            says = f"The entry is about something else than an earlier seal of the {tree.of}."
            report.problem("log", f"{tree.path} earlier seals {index}", says)
    for each in tree.earlier:
        report.earlier.append(each)
        if each.root not in [root for _, root in states.get((each.generation, each.size), ())]:
            says = f"The statement names the seal of run {each.generation}, but no entry of the log shows it."
            report.problem("log", f"{tree.path} earlier seals", says)
        if each.because == ERASURE and each.log_entry != anew.get(each.generation):
            _not_by_tombstone(tree, each, report)
    entry = _own_entry(bundle, tree) if last else None
    return Run(tree.of, tree.id, tree.log, tree.generation, tree.withholds, entry, tree.earlier, states, anew)


def _earlier_entry(
    tree: Tree,
    index: int,
    entry: Any,
    states: dict[tuple[int, int], list[tuple[int, str]]],
    anew: dict[int, int],
    report: Report,
) -> None:
    """Put an entry of the log where it belongs: a signed state of an earlier run, or why there is another. Raises one of `WRONG_FORM`."""
    run = whole(entry["generation"])
    if (entry["of"], entry["id"]) != (tree.of, tree.id) or run >= tree.generation:
        raise ValueError("it is about something else")
    if entry["entry"] == "sealed":
        state = index, text(entry["root"], SHA256)
        states.setdefault((run, whole(entry["size"])), []).append(state)
        return
    tombstone = tombstone_of(index, entry)
    if tombstone.anew is None:
        raise ValueError("it is about something else")
    anew[run] = index
    report.erasures.append(tombstone)


def _not_by_tombstone(tree: Tree, each: Earlier, report: Report) -> None:
    """Report that no entry of the log shows that a seal was replaced after an erasure. Only the bundle of a link may lack it."""
    if tree.withholds:
        says = f"That run {each.generation} of the {tree.of} {tree.id} was resealed after an erasure: only the statement reports this, because a link has no tombstones."
        report.not_checked.append(says)
    else:
        says = f"The statement says that run {each.generation} was resealed after an erasure, but no entry of the log shows it."
        report.problem("tombstone", f"{tree.path} earlier seals", says)


def _own_entry(bundle: Bundle, tree: Tree) -> int | None:
    """The stated log entry of a tree, which was checked."""
    with suppress(*WRONG_FORM):
        return whole(bundle.document(f"{tree.path}/log.json")["index"])
    return None


def _entries_in_log(
    bundle: Bundle, tree: Tree, keys: Mapping[str, bytes], report: Report
) -> Iterator[tuple[int, Any]]:
    """The log entries about earlier seals, each with its audit path."""
    found, where = bundle.document(f"{tree.path}/earlier.json"), f"{tree.path} earlier seals"
    if isinstance(found, dict):
        for index, entry, _key in _proven(found, tree.log, keys, report, where):
            yield index, entry


def _replacements(bundle: Bundle, stated: Stated, keys: Mapping[str, bytes], report: Report) -> None:
    """The replaced keys of a bundle and their successors, by log entries under states that these keys signed."""
    found = bundle.document(REPLACED)
    for each in found if stated.trees and isinstance(found, list) else ():
        if not isinstance(each, dict):
            report.problem("key", REPLACED, "This is not a log entry.")
            continue
        for index, entry, signed_by in _proven(each, stated.trees[0].log, keys, report, REPLACED):
            try:
                if entry["entry"] != "key":
                    raise ValueError("this entry is about something else")
                key, before = text(entry["key"]), text(entry["replaces"])
            except WRONG_FORM:
                report.problem("key", f"{REPLACED} {index}", "The entry is about something else.")
                continue
            report.replaced.append(Replaced(index, key, before, signed_by == before))


def _signers(report: Report) -> None:
    """Check that the bundle's key signed everything, or replaced the keys that did, according to the project's log."""
    chain, replaced = {report.key}, list(report.replaced)
    while found := [each for each in replaced if each.key in chain and each.replaces not in chain]:
        chain |= {each.replaces for each in found}
    for key, where in report.signers.items():
        if key not in chain and report.key:
            says = f"It is signed by {key}, and {STATEMENT} by {report.key}: no entry of the log says that this key replaced it."
            report.problem("key", where, says)


def _proven(
    found: Mapping[str, Any], log: str, keys: Mapping[str, bytes], report: Report, where: str
) -> Iterator[tuple[int, Any, str]]:
    """The entries in a signed state of the log by audit path, and the keys that signed the state."""
    entries = found.get("entries")
    signature = opened(found.get("checkpoint"), CHECKPOINT_TYPE, keys, report, where)
    state = parsed_state(signature[0], where) if signature else None
    if state and state.origin != log:
        report.problem("log", where, f"They are in {state.origin}, not in {log}.")
        return
    for each in entries if state and isinstance(entries, list) else ():
        try:
            line, index, steps = each["entry"].encode(), whole(each["index"]), hashes(each["path"])
            entry = parsed(line)
        except WRONG_FORM:
            report.problem("log", where, "This is not a log entry.")
            continue
        if state is None or root_by_path(leaf_hash(line), index, state.size, steps) != state.root:
            report.problem("log", f"{where} {index}", "The entry is not in the log that was signed.")
        else:
            report.checked["proofs"] += 1
            yield index, entry, signature[1] if signature else ""


def tombstone_of(index: int, entry: Any) -> Tombstone:
    """Parse the log entry of an erasure. Raises one of `WRONG_FORM`."""
    if entry["entry"] not in ("erased", "erased_fields"):
        raise ValueError("this entry is about something else")
    at, by, reason = ((text(entry[name]) if name in entry else None) for name in ("at", "by", "reason"))
    listed = entry["records"] if entry["entry"] == "erased_fields" else None
    records = None if listed is None else [(whole(at), list(map(text, names))) for at, names in listed]
    whose = text(entry["of"]), text(entry["id"]), whole(entry["generation"])
    anew = entry.get("sealed_anew")
    turns = tuple(whole(each) for each in entry.get("turns", ()))
    return Tombstone(index, *whose, records, at, by, reason, None if anew is None else whole(anew), turns)


def _count_undisclosed(
    tree: Tree,
    records: Mapping[int, Sealed],
    parted: tuple[Mapping[int, set[str]], Mapping[int, set[str]]],
    erased: Mapping[Field, str | None],
    report: Report,
) -> tuple[ErasureCount, int, int]:
    """Count the undisclosed fields: erased, if a tombstone names them, or the statement of a bundle that may withhold; otherwise
    withheld, which is a fault if the statement says that nothing is. The third number is of fields that do not match.
    """
    undisclosed, unfit = parted
    number, wrong = (sum(map(len, each.values())) for each in parted)
    found = {each: at for each, at in erased.items() if each[1] in undisclosed.get(each[0], ())}
    erasures = ErasureCount(len(found), max((at for at in found.values() if at), default=None))
    if tree.withholds and tree.erased:
        erasures = _stated(tree, tree.erased, erasures, (number, wrong), report)
    left = number - erasures.fields
    withheld, wrong = (left, wrong) if tree.withholds else (0, wrong + left)
    report.checked["fields"] += (
        sum(each.fields.count(b":") for each in records.values()) - number - sum(map(len, unfit.values()))
    )
    report.checked["erased_fields"] += erasures.fields
    report.checked["withheld"] += withheld
    report.checked["unfit_fields"] += wrong
    for index in sorted(undisclosed) if not tree.withholds else ():
        for name in sorted(undisclosed[index]):
            if (index, name) not in found:
                says = "It is not disclosed, and no tombstone in the log says that it was erased."
                report.problem("missing", f"{tree.path} record {index} {name}", says)
    return erasures, withheld, wrong


def _stated(
    tree: Tree, stated: ErasureCount, found: ErasureCount, numbers: tuple[int, int], report: Report
) -> ErasureCount:
    """The erased fields according to the statement, which replaces tombstones in the bundle of a share link; at most the undisclosed ones."""
    undisclosed, wrong = numbers
    if (
        undisclosed < stated.fields <= undisclosed + wrong
    ):  # some of it was changed, which is already reported
        return stated._replace(fields=undisclosed)
    if stated.fields > undisclosed:
        says = f"The statement says that {stated.fields} fields were erased, but {undisclosed} are not disclosed."
        report.problem("statement", f"{tree.path} erased", says)
        return found
    if stated.fields <= found.fields:
        return found
    says = f"That {stated.fields:,} fields of the {tree.of} {tree.id} were erased: only the statement reports this, because a link has no tombstones."
    report.not_checked.append(says)
    return stated


def _entries(bundle: Bundle, name: str) -> Iterator[bytes]:
    """Read the entries of a log. Raises `TooMuch` if too many lines are invalid."""
    strange = 0
    for line in bundle.lines(name):
        strange += len(line) < SHORTEST_ENTRY
        if strange >= MOST_COUNTED:
            raise TooMuch(f"It stopped after {MOST_COUNTED:,} lines of {name} that are not entries.")
        yield line


def _whole_log(bundle: Bundle, log: Log, keys: Mapping[str, bytes], report: Report) -> list[bytes]:
    """The leaves of a project's log. Checks that it contains every signed root, and that everything sealed exists or was erased."""
    lines = list(_entries(bundle, f"{log.path}/entries.jsonl"))
    report.checked["records"] += len(lines)
    stated = []
    for number, line in enumerate(bundle.lines(f"{log.path}/checkpoints.jsonl"), start=1):
        found = _state(line, f"{log.path} checkpoint {number}", keys, report)
        if found is not None and found.origin == log.origin:
            stated.append(found)
        elif found is not None:
            report.problem("checkpoint", found.where, f"It belongs to {found.origin}, not to {log.origin}.")
    leaves = [leaf_hash(line) for line in lines]
    made = roots(leaves, [state.size for state in stated])
    for state in stated:
        if made.get(state.size) == state.root:
            report.checked["proofs"] += 1
        else:
            says = f"The first {state.size} entries do not have the root that was signed: one was changed, added or removed."
            report.problem("root", state.where, says)
    last = max(stated, key=lambda state: state.size, default=None)
    if last is None or (last.size, last.root.hex(), len(lines)) != (log.size, log.root, log.size):
        report.problem("checkpoint", f"{log.path} checkpoints", "The log does not end as the statement says.")
    if last:
        report.shown.append(
            Shown(
                "log", log.origin, len(lines), last.size, last.at, last.state != "closed", signed_by=last.key
            )
        )
    _replaced(lines, stated, report)
    _witnessed(bundle, log, leaves, report)
    _access(bundle, log, lines, report)
    _audit(bundle, log, lines, report)
    _present(bundle, log, lines, report)
    return leaves


def _replaced(lines: Sequence[bytes], stated: Sequence[State], report: Report) -> None:
    """The replaced keys with their successors, and whether the earlier key signed the log with that entry."""
    for index, line in enumerate(lines):
        with suppress(*WRONG_FORM):  # reported with the sealed entries
            entry = parsed(line)
            if entry["entry"] == "key":
                key, before = text(entry["key"]), text(entry["replaces"])
                vouched = any(state.key == before and state.size > index for state in stated)
                report.replaced.append(Replaced(index, key, before, vouched))
    _signed_in_turn(stated, report)


def _signed_in_turn(stated: Sequence[State], report: Report) -> None:
    """Check that each state of a log is signed by a key in the log, and not only by a replaced key."""
    until = {each.replaces: each.entry for each in report.replaced}
    known = until.keys() | {each.key for each in report.replaced} | {report.key}
    sound = {(state.size, state.root) for state in stated if state.size <= until.get(state.key or "", MOST)}
    for state in stated:
        if state.key not in known and report.key:
            says = f"It is signed by {state.key}, which was never a key of the project according to this log."
            report.problem("key", state.where, says)
        elif (state.size, state.root) not in sound:
            says = f"It is signed by {state.key} alone, which was replaced by entry {until[state.key or '']} before."
            report.problem("key", state.where, says)


def _witnessed(bundle: Bundle, log: Log, leaves: Sequence[bytes], report: Report) -> None:
    """Check that the witness received the beginning of this log. Its cosignature needs the witness's own key."""
    taken = {}
    for number, line in enumerate(bundle.lines(f"{log.path}/witnessed.jsonl"), start=1):
        where = f"{log.path} witnessed line {number}"
        try:
            found = parsed(line)
            origin, size, root, *_ = text(found["sent"]).split("\n\n", 1)[1].split("\n")
            state = State(where, origin, digits(size), base64.b64decode(root, validate=True), "")
            taken[state] = (text(found["url"]), bool(text(found["answer"]).strip()))
        except WRONG_FORM:
            report.problem("witness", where, "This line is not a state that a witness received.")
    made = roots(leaves, [state.size for state in taken])
    for state, (url, cosigned) in taken.items():
        if (state.origin, state.root) != (log.origin, made.get(state.size)):
            report.problem("witness", state.where, "A witness received a different history.")
            continue
        report.checked["witnessed"] += 1
        answer = "its key shows whether it cosigned them" if cosigned else "it gave no cosignature"
        last = (
            f"Whether {url} received the first {state.size} entries: ask it; {answer} (log/witnessed.jsonl)."
        )
    if report.checked["witnessed"]:
        report.not_checked.append(last)


def _log_states(bundle: Bundle, stated: Stated) -> list[Any]:
    """The signed states of the project's log in the bundle; their signatures are checked elsewhere."""
    found = []
    for line in bundle.lines(f"{stated.log.path}/checkpoints.jsonl") if stated.log else ():
        with suppress(*WRONG_FORM):
            found.append(parsed(line))
    entries = [bundle.document(f"{tree.path}/log.json") for tree in stated.trees]
    return found + [each.get("checkpoint") for each in entries if isinstance(each, dict)]


def _timestamps(bundle: Bundle, signed: Sequence[Any], report: Report) -> None:
    """Check that each timestamp belongs to its signed state. OpenSSL can check who issued it."""
    dated, states = [], {json.dumps(each, sort_keys=True) for each in signed}
    for name in sorted(bundle.names):
        match = re.fullmatch(r"timestamps/([0-9]{1,15})\.tsr", name)
        if match is None:
            continue
        state = f"timestamps/{match[1]}.json"
        dates = bundle.document(state)
        if dates is None or json.dumps(dates, sort_keys=True) not in states:
            report.problem("timestamp", name, "The dated state is not among the signed states of the log.")
        else:
            dated.append(int(match[1]))
            _stamp(bundle, dated[-1], name, state, report)
    report.dated.sort(reverse=True)
    if dated:
        last = max(dated)
        command = (
            f"openssl ts -verify -in timestamps/{last}.tsr -data timestamps/{last}.json -CAfile AUTHORITY.pem"
        )
        report.not_checked.append(
            f"The timestamps of {_counted(len(dated), 'states')} of the log: the authority's signature and chain of certificates, "
            f"and so whether the authority issued them. For the newest: {command}"
        )


def _stamp(bundle: Bundle, entries: int, name: str, state: str, report: Report) -> None:
    answer, data = bundle.content(name), bundle.content(state)
    if answer is None or data is None:
        return  # reported with the files
    try:
        algorithm, imprint, at = timestamp(answer)
    except Indefinite:
        report.not_checked.append(
            f"{name}: it has elements of indefinite length (BER), which this program cannot read. OpenSSL can: "
            f"openssl ts -verify -in {name} -data {state} -CAfile AUTHORITY.pem"
        )
        return
    except WRONG_FORM:
        report.problem("timestamp", name, "It does not have the form of a timestamp (RFC 3161).")
        return
    known = IMPRINTS.get(algorithm)
    if known and hashlib.new(known, data).digest() != imprint:
        report.problem("timestamp", name, f"It does not date {state}.")
        return
    report.dated.append(Dated(entries, at, name, True if known else None))


def timestamp(answer: bytes) -> tuple[bytes, bytes, str]:
    """The hash algorithm, hash and time in an authority's answer (RFC 3161). Raises one of `WRONG_FORM`."""
    _status, token = _within(answer, SEQUENCE)
    _type, signed = _within(token, SEQUENCE)
    content = _within(_within(signed, EXPLICIT)[0], SEQUENCE)[2]
    _type, info = _within(content, SEQUENCE)
    (octets,) = _within(info, EXPLICIT)
    _version, _policy, imprint, _serial, at, *_ = _within(_content(octets, OCTETS), SEQUENCE)
    algorithm, digest = _within(imprint, SEQUENCE)
    when = re.fullmatch(
        rb"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d(?:\.\d{1,9})?)Z", _content(at, GENERALIZED_TIME)
    )
    if when is None:
        raise ValueError("it has no time")
    year, month, day, hour, minute, second = (each.decode() for each in when.groups())
    dated_at = f"{year}-{month}-{day}T{hour}:{minute}:{second}Z"
    return _content(_within(algorithm, SEQUENCE)[0], OBJECT_ID), _content(digest, OCTETS), dated_at


def _within(element: bytes, tag: int) -> list[bytes]:
    """The elements in a DER element with this tag. Raises `ValueError` or `IndexError`."""
    content, found, begin = _content(element, tag), list[bytes](), 0
    while begin < len(content):
        head, length = _length(content[begin : begin + 6])
        found.append(content[begin : begin + head + length])
        begin += head + length
    if begin != len(content):
        raise ValueError("it is incomplete")
    return found


def _content(element: bytes, tag: int) -> bytes:
    if element[0] != tag:
        raise ValueError("it has another form")
    head, length = _length(element[:6])
    if len(element) != head + length:
        raise ValueError("it has another form")
    return element[head:]


def _length(begin: bytes) -> tuple[int, int]:
    """The size of an element's header, and of its content."""
    first = begin[1]
    if first < LONG:
        return 2, first
    if first == LONG:
        raise Indefinite("its length is indefinite")
    many = first - LONG
    if many not in SIZES or len(begin) < 2 + many:
        raise ValueError("it has another form")
    return 2 + many, int.from_bytes(begin[2 : 2 + many], "big")


def _access(bundle: Bundle, log: Log, lines: Sequence[bytes], report: Report) -> None:
    """Check that every access log in the project's log exists unless erased, and begins with the lines it had then."""
    there = _chained_lines(bundle, log, "access", report)
    for chain, heads in _access_heads(lines).items():
        _begins_with(heads.items(), there.get(chain, []), "access", f"access log of {chain}", report)


def _audit(bundle: Bundle, log: Log, lines: Sequence[bytes], report: Report) -> None:
    """Check that the audit log, if it is in the bundle, begins with the lines that it had when the log committed to it."""
    heads = list[tuple[int, str]]()
    for line in lines:
        with suppress(*WRONG_FORM):  # reported with the sealed entries
            entry = parsed(line)
            if entry["entry"] == "audit":
                heads.append((whole(entry["lines"]), text(entry["sha256"])))
    if f"{log.path}/audit.jsonl" in bundle.names:
        there = _chained_lines(bundle, log, "audit", report)
        found = next(iter(there.values()), [])
        _begins_with(heads, found, "audit", "audit log", report)
    elif heads:
        report.not_checked.append(AUDIT_LOG_ELSEWHERE)


def _begins_with(
    heads: Iterable[tuple[int, str]], found: Sequence[str], what: str, where: str, report: Report
) -> None:
    """Check a chain of lines by the hashes that the log has of it, by their number of lines."""
    for number, head in heads:
        if number > len(found):
            says = f"The log committed to {number} lines of it, but it has {len(found)}."
            report.problem(what, where, says)
        elif number and found[number - 1] != head:
            says = "It or an earlier line is not the one that the log committed to."
            report.problem(what, f"{where} line {number}", says)


def _access_heads(lines: Sequence[bytes]) -> dict[str, dict[int, str]]:
    """The hash of the last line of each access log in the project's log."""
    heads: dict[str, dict[int, str]] = {}
    for line in lines:
        with suppress(*WRONG_FORM):  # reported with the sealed entries
            entry = parsed(line)
            if entry["entry"] == "access":
                heads.setdefault(text(entry["chain"]), {})[whole(entry["lines"])] = text(entry["sha256"])
            elif (entry["entry"], entry["of"]) == ("erased", "access"):
                heads.pop(text(entry["id"]), None)
    return heads


def _chained_lines(bundle: Bundle, log: Log, what: str, report: Report) -> dict[str, list[str]]:
    """The hashes of the lines of each access log, or of the audit log, checked as a chain."""
    there: dict[str, list[str]] = {}
    for number, line in enumerate(bundle.lines(f"{log.path}/{what}.jsonl"), start=1):
        try:
            found = parsed(line)
            chain, sequence, previous = (
                text(found["chain"]),
                whole(found["sequence"]),
                text(found["previous_sha256"]),
            )
        except WRONG_FORM:
            says = f"This is not a line of an {what} log."
            report.problem(what, f"{log.path} {what} line {number}", says)
            continue
        hashes = there.setdefault(chain, [])
        if (sequence, previous) != (len(hashes) + 1, hashes[-1] if hashes else NO_RECORD):
            says = "It does not follow the previous line: a line was changed, inserted or left out."
            report.problem(what, f"{what} log of {chain} line {sequence}", says)
        hashes.append(sha256(line).hex())
        report.checked[f"{what}_lines"] += 1
    return there


def _present(bundle: Bundle, log: Log, lines: Sequence[bytes], report: Report) -> None:
    """Check that everything sealed and not erased is there, with the root of its largest seal."""
    sealed, there = _sealed_by(log, lines, report), _there(bundle, log, report)
    if there:
        report.not_checked.append(HOW_THERE)
    for name, state in sealed.items():
        where = f"{name[0]} {name[1]}"
        if name not in there:
            report.problem("dropped", where, "It was sealed and never erased, but no longer exists.")
        elif there[name] != state:
            says = f"It was sealed with {state[0]} records under a different root than now."
            report.problem("changed", where, says)
        else:
            report.checked["sealed"] += 1
    for of, id_, _ in there.keys() - sealed.keys():
        report.problem("log", f"{of} {id_}", "It exists, but was not sealed according to the log.")


def _sealed_by(log: Log, lines: Sequence[bytes], report: Report) -> dict[Name, tuple[int, str]]:
    """The size and root of the largest seal of everything that was not erased."""
    sealed: dict[Name, tuple[int, str]] = {}
    known: dict[tuple[Name, int], str] = {}
    for index, line in enumerate(lines):
        where = f"{log.path} entry {index}"
        try:
            entry = parsed(line)
            kind = entry["entry"]
            if kind in ("key", "access", "audit", "hold", "retention"):
                continue
            name = (text(entry["of"]), text(entry["id"]), whole(entry["generation"]))
            if kind in ("erased", "erased_fields"):
                report.erasures.append(erasure := tombstone_of(index, entry))
                report.checked["erased_fields"] += sum(len(names) for _, names in erasure.records or ())
                report.checked["erased"] += kind == "erased"
            if kind == "erased_fields":
                continue
            state = (0, "") if kind == "erased" else (whole(entry["size"]), text(entry["root"]))
        except WRONG_FORM:
            report.problem("log", where, "This is not a log entry.")
            continue
        if kind == "erased":
            sealed.pop(name, None)
        elif known.setdefault((name, state[0]), state[1]) != state[1]:
            report.problem(
                "changed", where, f"The same {state[0]} records were sealed earlier under a different root."
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
                "log", f"{log.path} present line {number}", "This line does not name anything sealed."
            )
    return there


def _disclosed(
    bundle: Bundle,
    path: str,
    records: Mapping[int, Sealed],
    payloads: Mapping[str, bytes],
    helper: Helper | None,
    report: Report,
) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
    """Check that every disclosed field matches its commitment and is disclosed once. Returns the names of the other fields by record: the
    undisclosed ones, and those that do not match or cannot be read.
    """
    name = f"{path}/disclosed.jsonl"
    made = helper.lines(bundle) if helper else None
    sound = {claimed.encode() for claimed, digest in payloads.items() if digest.hex() == claimed} | {b""}
    disclosed = _disclosed_fields(
        map(committed, bundle.lines(name)) if made is None else made, records, sound
    )
    known, named, unclear = disclosed.of_all.union(disclosed.of_some), set[Field](), False
    for number, line in enumerate(bundle.lines(name) if disclosed.doubtful else (), start=1):
        if number in disclosed.doubtful:
            where = f"{path} disclosed line {number}"
            index, right, wrong = _one_by_one(line, where, path, records, payloads, report)
            named |= {(index, each) for each in wrong}
            unclear = unclear or index < 0
            if 0 <= index <= disclosed.doubtful[number] or index in known:
                report.problem("order", where, "A record is disclosed twice, or after a later one.")
            known.add(index)
            disclosed.of_some.setdefault(index, set()).update(right)
    if len(disclosed.doubtful) >= MOST_COUNTED:
        raise TooMuch(
            f"It stopped after {MOST_COUNTED:,} lines of {name} that are not in the form that Time Machine writes."
        )
    unclear = unclear or bundle.hashes.get(name) == ""
    return _parted(_undisclosed_fields(records, disclosed), named, known if unclear else records)


def _parted(
    undisclosed: Mapping[int, set[str]], named: set[Field], read: Iterable[int]
) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
    """The undisclosed fields without those that are disclosed and wrong: the `named` ones, and all fields of unreadable records."""
    left, unfit, there = dict[int, set[str]](), dict[int, set[str]](), set(read)
    for index, names in undisclosed.items():
        wrong = {name for name in names if (index, name) in named or index not in there}
        if wrong:
            unfit[index] = wrong
        if names - wrong:
            left[index] = names - wrong
    return left, unfit


def _disclosed_fields(
    lines: Iterable[bytes], records: Mapping[int, Sealed], sound: set[bytes]
) -> DisclosedFields:
    """The disclosed content of the records from the checked lines; `sound` are the payloads with a correct hash."""
    found, before, in_turn = DisclosedFields(set(), {}, {}), -1, iter(records.items())
    for number, line in enumerate(lines, start=1):
        expected, record = next(in_turn, NOTHING)
        count = record.fields.count(b":")
        if expected > before and line == b"%d %d %b " % (
            expected,
            count,
            record.fields,
        ):  # all of it, and in turn
            found.of_all.add(expected)
            before = expected
            continue
        written_index, disclosed, fields, needed = line.split(b" ")
        index, pairs = int(written_index), fields.split(b",") if fields else []
        right = (
            before < index in records
            and sound.issuperset(needed.split(b","))
            and len(pairs) == int(disclosed) == len(set(pairs))
            and all(pair in records[index].fields for pair in pairs)
        )
        if right:
            found.of_some[index] = {each.decode() for each, _ in PAIR.findall(fields)}
        else:
            found.doubtful[number] = before
        before = max(before, index)
        if len(found.doubtful) >= MOST_COUNTED:
            break
    return found


def _undisclosed_fields(records: Mapping[int, Sealed], disclosed: DisclosedFields) -> dict[int, set[str]]:
    """The names of the undisclosed fields by record."""
    undisclosed = {}
    for index, record in records.items():
        if index not in disclosed.of_all:
            names = {name.decode() for name, _ in PAIR.findall(record.fields)}
            if left := names - disclosed.of_some.get(index, set()):
                undisclosed[index] = left
    return undisclosed


# Objects as tuples of pairs, so that a repeated name is not lost.
_decoded = json.JSONDecoder(object_pairs_hook=tuple).raw_decode
UNCLEAR = b"-1 0  "
TOLD = (tuple, int, tuple)
NOTHING = (-1, Sealed(b"", b"", b""))


def committed(line: bytes) -> bytes:
    """Return what a disclosing line proves: its index, the number of fields, the commitments to them as an envelope writes
    them, and the payloads that it names. `UNCLEAR` if it is not in the form that the product writes: then it is read more carefully.
    """
    made, needed, sha = list[str](), list[str](), hashlib.sha256
    try:
        written = line.decode("utf-8")
        found, end = _decoded(written)
        (first, index), (second, fields) = found
        if first != "index" or second != "fields" or (type(found), type(index), type(fields)) != TOLD:
            return UNCLEAR
        for name, each in fields:
            if len(each) == 2:  # noqa: PLR2004  # as below; not a call, because this runs a million times
                salt, content = each
                commitment = sha(COMMITMENT_TAG + _bytes(salt) + sha(content.encode()).digest()).hexdigest()
            else:
                commitment, payload = _committed(each)
                needed.append(payload)
            made.append(f'"{name}":"{commitment}"')
        pairs = ",".join(made)
        if end != len(written) or " " in pairs or "\n" in pairs:  # the separators of the result
            return UNCLEAR
        return f"{index} {len(made)} {pairs} {','.join(needed)}".encode()
    except WRONG_FORM:
        return UNCLEAR


def _committed(each: Any) -> tuple[str, str]:
    """The commitment in hex to a disclosed field, `[salt, text]` or `[salt, null, SHA-256 of a payload]`, and that SHA-256."""
    if len(each) == 2:  # noqa: PLR2004
        salt, content = each
        payload, digest = "", hashlib.sha256(content.encode()).digest()
    else:
        salt, content, payload = each
        if content is not None or not SHA256.fullmatch(payload):
            raise ValueError("it has both a text and a payload, or an invalid payload name")
        digest = bytes.fromhex(payload)
    return hashlib.sha256(COMMITMENT_TAG + bytes.fromhex(salt) + digest).hexdigest(), payload


class Helper:
    """Additional processes that read the disclosed fields while this one reads the records."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.started: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []

    def start(self, bundle: Bundle) -> None:
        """Start all processes. Raises `OSError` if one cannot be started."""
        command = [sys.executable, "-I", "-S", __file__, bundle.path, "--told", self.name, "--turn"]
        for turn in range(TURNS):
            output = tempfile.TemporaryFile()  # noqa: SIM115  # `end` closes it
            quiet = subprocess.DEVNULL
            try:
                process = subprocess.Popen([*command, str(turn)], stdin=quiet, stdout=output, stderr=quiet)
                self.started.append((process, output))
            except OSError:
                output.close()
                raise

    def lines(self, bundle: Bundle) -> list[bytes] | None:
        """The result of each line; None if a process failed."""
        parts, digest = list[list[bytes]](), b""
        for process, output in self.started:
            if process.wait() != 0:
                return None
            output.seek(0)
            *lines, digest = output.read().split(b"\n")
            parts.append(lines)
        bundle.hashes[self.name] = digest.decode()
        made = [b""] * sum(map(len, parts))
        for turn, lines in enumerate(parts):
            made[turn :: len(parts)] = lines
        return made

    def end(self) -> None:
        """Stop the processes and remove their files."""
        for process, output in self.started:
            output.close()
            if process.poll() is None:
                process.kill()
                process.wait()


def _helped(bundle: Bundle, tree: Tree) -> Helper | None:
    """Start helpers if it is worth it and possible."""
    name = f"{tree.path}/disclosed.jsonl"
    large = name in bundle.names and bundle.members[name].size >= WORTH_A_PROCESS
    if not large or (os.cpu_count() or 1) == 1 or not sys.executable or not Path(__file__).is_file():
        return None
    helper = Helper(name)
    try:
        helper.start(bundle)
    except OSError:
        helper.end()
        return None
    return helper


def _help(path: str, name: str, turn: int | None) -> int:
    """Do the work of a helper: check each line of a file, or every n-th one, and hash the file."""
    report, unclear = Report(), 0
    try:
        bundle = Bundle(path, report)
        lines = bundle.lines(name)
        for line in lines if turn is None else itertools.islice(lines, turn, None, TURNS):
            made = committed(line)
            unclear += made == UNCLEAR
            if unclear >= MOST_COUNTED:
                return 1
            sys.stdout.buffer.write(made + b"\n")
    except (Unreadable, TooMuch):
        return 1
    sys.stdout.buffer.write(bundle.hashes.get(name, "").encode())
    return 1 if report.problems else 0


def _one_by_one(
    line: bytes,
    where: str,
    path: str,
    records: Mapping[int, Sealed],
    payloads: Mapping[str, bytes],
    report: Report,
) -> tuple[int, set[str], set[str]]:
    """The record of a line (-1: none), and its fields that match their commitments; the others are reported."""
    try:
        found = parsed(line)
        index, fields = found["index"], found["fields"]
        if type(index) is not int or type(fields) is not dict:
            raise ValueError("another form")
    except WRONG_FORM:
        report.problem("field", where, "This line does not disclose a record.")
        return -1, set(), set()
    record = records.get(index)
    if record is None:
        report.problem(
            "missing", f"{path} record {index}", "Its fields are disclosed, but the record is missing."
        )
        return index, set(), set()
    commitments = {name.decode(): value for name, value in PAIR.findall(record.fields)}
    right, wrong = set[str](), set[str]()
    for name, each in fields.items():
        says = _wrong_with(each, payloads, commitments.get(name))
        if says is None:
            right.add(name)
        else:
            wrong.add(name)
            report.problem("field", f"{path} record {index} {name}", says)
    return index, right, wrong


def _wrong_with(each: Any, payloads: Mapping[str, bytes], commitment: bytes | None) -> str | None:
    try:
        made, payload = _committed(each)
    except WRONG_FORM:
        return "It is not disclosed in a form that can be checked."
    if payload and payload not in payloads:
        return f"Its payload {payload} is not in the bundle."
    if made.encode() == commitment and (not payload or payloads[payload].hex() == payload):
        return None
    return "This is not what was sealed: it or its salt was changed."


class Repeats(NamedTuple):
    """What a record repeats: the session, step and kind; None if it does not disclose this."""

    session: Any
    sequence: Any
    kind: Any


def _links(
    bundle: Bundle,
    stated: Sequence[Tree],
    records: Mapping[str, Mapping[int, Sealed]],
    trees: Mapping[str, Leaves],
    report: Report,
) -> None:
    """Check that each record that repeats another one links to its leaf hash, and that this is the step it names."""
    linked = {
        tree.path: [
            index for index, each in records[tree.path].items() if each.links or _is_step(tree, index)
        ]
        for tree in stated
    }
    known = {
        each.leaf.hex().encode(): (tree, index, each.kind.decode())
        for tree in stated
        for index, each in records[tree.path].items()
        if any(linked.values())
    }
    for tree in stated:
        facts = _facts(bundle, tree, linked[tree.path], trees[tree.origin].disclosure)
        silent, before = 0, 0
        for index in linked[tree.path]:
            where, record = f"{tree.path} record {index}", records[tree.path][index]
            repeats = _repeats(tree, record, facts.get(index), facts.get(0))
            silent += repeats.sequence is None
            if not record.links:
                report.problem(
                    "link", where, "It is a step of a replay, but does not name the record that it repeats."
                )
            for name, leaf in PAIR.findall(record.links):
                step = _linked(where, name.decode(), known.get(leaf), repeats, report)
                if _is_step(tree, index) and 0 <= step <= before:
                    says = f"It repeats record {step} of the session after record {before}: its link or its position is wrong."
                    report.problem("link", where, says)
                before = max(before, step)
        if silent:
            says = f"Which steps {silent:,} records of the {tree.of} {tree.id} repeat: their facts are not disclosed."
            report.not_checked.append(says)


def _is_step(tree: Tree, index: int) -> bool:
    """Whether a record is a step of a replay."""
    return tree.of == "replay" and index > 0


def _linked(
    where: str, name: str, found: tuple[Tree, int, str] | None, repeats: Repeats, report: Report
) -> int:
    """The step of a link if it is the one the record names; else -1 and a problem."""
    if found is None:
        says = f"It repeats a record ({name}) that is not in the bundle, or was changed."
        report.problem("link", where, says)
        return -1
    there, index, kind = found
    for claimed, here in (
        (SESSION, there.of),
        (repeats.session, there.id),
        (repeats.sequence, index),
        (repeats.kind, kind),
    ):
        if claimed is not None and claimed != here:
            says = f"It claims to repeat something else ({plain(claimed)}) than the record that it names: record {index} of the {there.of} {there.id}, {kind}."
            report.problem("link", where, says)
            return -1
    report.checked["links"] += 1
    return index


def _repeats(tree: Tree, record: Sealed, facts: Any, of_tree: Any) -> Repeats:
    """What a record repeats: for a cell from its facts; for a step of a replay from its envelope and record 0."""
    own_facts = facts if isinstance(facts, dict) else {}
    if tree.of != "replay":
        return Repeats(own_facts.get("session"), own_facts.get("sequence"), own_facts.get("kind"))
    session = of_tree.get("session") if isinstance(of_tree, dict) else None
    return Repeats(session, own_facts.get("sequence"), record.kind.decode())


def _facts(bundle: Bundle, tree: Tree, linked: Sequence[int], disclosure: Disclosure) -> dict[int, Any]:
    """The disclosed and correct facts of some records and of record 0."""
    needed, found = {0, *linked} if linked else set(), dict[int, Any]()
    for line in bundle.lines(f"{tree.path}/disclosed.jsonl") if needed else ():
        with suppress(*WRONG_FORM):  # reported with the disclosed fields
            document = parsed(line)
            index = document["index"]
            left = disclosure.undisclosed.get(index, set()) | disclosure.unfit.get(index, set())
            if index in needed and FACTS not in left:
                found[index] = parsed(text(document["fields"][FACTS][1]))
    return found


class Step(NamedTuple):
    """What a step of a continuation discloses: the tool call that it belongs to, whether a person supplied its result, and, if it
    says how the run ended, its output.
    """

    turn: str | None
    is_supplied: bool
    ending: Mapping[str, Any] | None


def _continuation(
    bundle: Bundle, tree: Tree, records: Mapping[int, Sealed], disclosure: Disclosure, report: Report
) -> None:
    """Report what a branch continues, and check that it has the results that it says it got from the record or from a person."""
    origin, steps = _disclosed_steps(bundle, tree, records, disclosure)
    if origin is None:
        report.not_checked.append(f"What the session {tree.id} continues: this is not disclosed.")
        return
    copies = {index for index, each in records.items() if f'"{COPIED}":'.encode() in each.fields}
    recorded = {step.turn: index for index, step in steps.items() if step.turn and index in copies}
    supplied = {step.turn: index for index, step in steps.items() if step.turn and step.is_supplied}
    last = max((index for index, step in steps.items() if step.ending is not None), default=0)
    calls = max((index for index, each in records.items() if each.kind == CALL), default=0)
    ending = steps[last].ending if last > calls else None
    ended = None if ending is None else str(ending.get("finding"))
    found = sorted(recorded.values()), sorted(supplied.values())
    hidden = bool(disclosure.erased or disclosure.stated or len(steps) < len(records) - 1)
    report.continuations.append(Continuation(tree.id, *origin, ended, *found, not hidden))
    if ending is not None and hidden:
        says = f"Which results of tools in the session {tree.id} are from the record: not all of its steps disclose their text."
        report.not_checked.append(says)
    elif ending is not None:
        for name, whose, number in (
            ("recorded_results", "from the record", len(recorded)),
            ("supplied_results", "supplied by a person", len(supplied)),
        ):
            claimed = ending.get(name, number)
            if claimed != number:
                says = f"It says that {claimed} results of tools are {whose}, but {number:,} are."
                report.problem("continuation", f"{tree.path} record {last}", says)


def _disclosed_steps(
    bundle: Bundle, tree: Tree, records: Mapping[int, Sealed], disclosure: Disclosure
) -> tuple[tuple[str, int, str, str] | None, dict[int, Step]]:
    """What record 0 says that a branch continues, None if it is not disclosed, and the steps that disclose their words."""
    origin, steps = None, dict[int, Step]()
    for line in bundle.lines(f"{tree.path}/disclosed.jsonl"):
        with suppress(*WRONG_FORM):  # reported with the disclosed fields
            document = parsed(line)
            index, fields = document["index"], document["fields"]
            hidden = disclosure.undisclosed.get(index, set()) | disclosure.unfit.get(index, set())
            if index == 0 and CONTINUES not in hidden:
                told = parsed(text(fields[CONTINUES][1]))
                origin = text(told["session"]), whole(told["step"]), text(told["model"]), text(told["replay"])
            elif index in records and WORDS not in hidden:
                words = parsed(text(fields[WORDS][1])) if WORDS in fields else {}
                turn = TURN.fullmatch(words.get("id") or "")
                ends = words.get("name") == CONTINUATION_ENDED and OUTPUT not in hidden
                ending = dict(parsed(text(fields[OUTPUT][1]))) if ends else None
                steps[index] = Step(turn and turn[1], "supplied_by" in words.get("metadata", {}), ending)
    return origin, steps


# --- rendering ---


def report_lines(report: Report) -> Iterator[str]:
    """The report as lines of text."""
    yield from map(plain, _report_lines(report))


def _report_lines(report: Report) -> Iterator[str]:
    yield f"{HEADINGS[report.result]}  {report.subject}"
    given = ", the key that was given with --key" if report.is_key_known else ""
    yield f"signed by {report.key or 'no valid key'}{given}"
    yield from (f"log {each}" for each in report.logs)
    yield from map(str, report.shown)
    yield from (f"CONTINUATION {each}" for each in report.continuations)
    yield from _signed_by_others(report)
    yield from (f"EARLIER SEAL {each}" for each in report.earlier)
    yield from (f"KEY REPLACED (log entry {each.entry}) {each}" for each in report.replaced)
    yield from (f"TIMESTAMP {each}" for each in report.dated[:MOST_DATED])
    if len(report.dated) > MOST_DATED:
        yield f"and {len(report.dated) - MOST_DATED:,} earlier timestamps; --json lists all"
    yield from _older(report)
    counts = [
        _counted(count, COUNT_NAMES.get(name, name.replace("_", " ")))
        for name, count in report.checked.items()
        if count
    ]
    yield "checked: " + ", ".join(counts)
    yield from _erased(report.erasures)
    yield from (f"NO LONGER DISCLOSED: {where} ({why})" for where, why in report.missing[:MOST_ERASURES])
    if len(report.missing) > MOST_ERASURES:
        yield f"and {len(report.missing) - MOST_ERASURES:,} more fields that the older one disclosed; --json lists all"
    for each in report.problems:
        yield f"FAULT ({each['code']}) {each['where']}: {each['says']}"
    if report.more:
        yield f"and {report.more:,} more faults"
    if report.stopped:
        yield f"STOPPED: {report.stopped}"
    for says in report.not_checked:
        yield f"NOT CHECKED: {says}"
    for says in NOT_PROVEN:
        yield f"NOT PROVEN: {says}"


def _counted(count: int, words: str) -> str:
    """The number with its noun in singular or plural."""
    if count != 1:
        return f"{count:,} {words}"
    return f"1 {ONE.sub(lambda found: found[1] + (' that does' if found[2] else ''), words)}"


def _signed_by_others(report: Report) -> Iterator[str]:
    for shown in report.shown:
        if report.key and shown.signed_by not in {None, report.key}:
            whose = "the log" if shown.of == "log" else f"{shown.of} {shown.id}"
            yield f"{whose}: its seal is signed by {shown.signed_by}, not by the bundle's key"


def _older(report: Report) -> Iterator[str]:
    older = report.older
    if older and older.anew:
        yield f"{RESULT_OF_EARLIER[older.holds]}  {older.anew}; the older one is signed by {older.key or 'no valid key'}"
    elif older:
        some = ONLY_RECORDS if older.holds and report.failed else ""
        results = RESULT_OF_LOG if older.in_log else RESULT_OF_OLDER
        yield f"{results[older.holds]}{some}  it is signed by {older.key or 'no valid key'}"


def _erased(erasures: Sequence[Tombstone]) -> Iterator[str]:
    for each in erasures[:MOST_ERASURES]:
        yield f"ERASED (log entry {each.entry}) {each}"
    if len(erasures) > MOST_ERASURES:
        yield f"and {len(erasures) - MOST_ERASURES:,} more erasures; --json lists all"


class Command(argparse.ArgumentParser):
    """The parser of the command line; its errors escape unprintable characters."""

    def error(self, message: str) -> NoReturn:
        super().error(plain(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Verify the bundle of the command line and return the exit code."""
    parser = Command(prog="tm_verify.py", description="Check a Time Machine evidence bundle.")
    parser.add_argument("bundle", help="the zip file")
    key_help = "the key that must have signed it; get its fingerprint from a source other than the bundle"
    parser.add_argument("--key", metavar="ed25519:FINGERPRINT", help=key_help)
    older_help = "an older bundle of the same subject, to check that this one continues it; with a log, any bundle from its project, to check that the log contains it"
    parser.add_argument("--older", metavar="OLDER.zip", help=older_help)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--told", help=argparse.SUPPRESS)  # used when this program starts itself as a helper
    parser.add_argument("--turn", type=int, choices=range(TURNS), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    gc.disable()  # there are no reference cycles, and looking for them takes a tenth of the time
    if given.told is not None:
        return _help(given.bundle, given.told, given.turn)
    if given.key is not None and not is_fingerprint(given.key):
        parser.error("--key must be ed25519: followed by 64 hexadecimal digits (0-9, a-f)")
    try:
        report = verify(given.bundle, given.key, given.older)
    except Unreadable as why:
        sys.stderr.write(f"{plain(given.bundle)}: {why}\n")
        if given.json:
            _write(json.dumps(unreadable(given.bundle, why), indent=2))
        return 2
    _write(json.dumps(report.as_json(), indent=2) if given.json else "\n".join(report_lines(report)))
    return EXIT_CODES[report.result]


def _write(written: str) -> None:
    encoding = sys.stdout.encoding or "ascii"  # a terminal cannot print every character
    sys.stdout.write(
        written.replace("\x7f", "\\u007f").encode(encoding, "backslashreplace").decode(encoding) + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
